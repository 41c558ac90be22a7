"""The contracts of all lessons, by the id of their check."""

from harness_lib.course.contracts import lesson_03

CONTRACTS = {contract.check_id: contract for contract in [*lesson_03.CONTRACTS]}
