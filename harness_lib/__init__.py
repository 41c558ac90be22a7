"""The tool-dispatch boundary of an LLM agent harness, finished.

A model only proposes a tool call; this package decides whether and how the proposal becomes a
local execution:

    tool_use block -> ToolCall -> ToolRegistry: look up -> validate -> run -> ToolDispatchResult
                                      | unknown_tool | invalid_arguments | execution_error |

Each module is built in a lesson of the course beside it, which its docstring names.
"""

from harness_lib.call import ToolCall
from harness_lib.environment import build_subprocess_env
from harness_lib.loop import AgentLoopResult, AgentTurn, LoopStopReason, agent_loop
from harness_lib.registry import ToolRegistry
from harness_lib.result import ToolDispatchResult, ToolError, ToolErrorCode
from harness_lib.spec import ToolSpec, object_schema
from harness_lib.tools import workspace_tools
from harness_lib.workspace import Workspace, safe_path

__all__ = [
    "AgentLoopResult",
    "AgentTurn",
    "LoopStopReason",
    "ToolCall",
    "ToolDispatchResult",
    "ToolError",
    "ToolErrorCode",
    "ToolRegistry",
    "ToolSpec",
    "Workspace",
    "agent_loop",
    "build_subprocess_env",
    "object_schema",
    "safe_path",
    "workspace_tools",
]
