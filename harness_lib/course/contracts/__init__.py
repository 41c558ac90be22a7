"""The contracts of all lessons, by the id of their check."""

from harness_lib.course.contracts import lesson_00, lesson_03

CONTRACTS = {
    contract.check_id: contract
    for lesson in (lesson_00, lesson_03)
    for contract in lesson.CONTRACTS
}
