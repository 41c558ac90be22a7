"""The contracts of all lessons, by the id of their check: one module a lesson, found by name."""

import importlib
import pkgutil

_LESSONS = sorted(module.name for module in pkgutil.iter_modules(__path__))

CONTRACTS = {
    contract.check_id: contract
    for lesson in _LESSONS
    for contract in importlib.import_module(f"{__name__}.{lesson}").CONTRACTS
}
