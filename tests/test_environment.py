"""What `build_subprocess_env` passes on, and what it does not."""

from __future__ import annotations

import locale
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness_lib import environment
from harness_lib.environment import build_subprocess_env

ALLOWED = {
    *("PATH", "HOME", "PWD", "LANGUAGE"),
    *environment.LOCALE_NAMES,
    *environment.TEMPORARY_NAMES,
}

SECRETS = """
    ANTHROPIC_API_KEY OPENAI_API_KEY DATABASE_URL MY_DB_URL SSH_AUTH_SOCK LD_PRELOAD LD_AUDIT
    LD_LIBRARY_PATH BASH_ENV ENV PYTHONSTARTUP PYTHONPATH GIT_SSH_COMMAND NODE_OPTIONS PERL5OPT
    HTTPS_PROXY IFS BASH_FUNC_ls%% PROMPT_COMMAND SHELLOPTS PS4 LC_SECRET lc_all USER HOME PWD
    OLDPWD LOCPATH NLSPATH CDPATH EDITOR PAGER LC_ALL
"""


def test_nothing_is_passed_on_that_is_not_on_the_list(tmp_path):
    secrets = dict.fromkeys(SECRETS.split(), "sk-canary")
    child = build_subprocess_env(tmp_path, secrets)
    assert set(child) == {"PATH", "HOME", "PWD"}
    assert "sk-canary" not in child.values()


def test_what_a_child_needs_is_there(tmp_path):
    source = {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "LC_ALL": "C",
        "LC_TIME": "POSIX",
        "LANGUAGE": "de:en_US",
        "TMPDIR": str(tmp_path),
    }
    home = str(tmp_path.resolve())
    assert build_subprocess_env(tmp_path, source) == source | {"HOME": home, "PWD": home}


def test_home_is_the_resolved_workspace(tmp_path, monkeypatch):
    (tmp_path / "ws").mkdir()
    (tmp_path / "link").symlink_to("ws")
    monkeypatch.chdir(tmp_path)
    for spelling in ("ws", "link", tmp_path / "link", "link/../ws/."):
        child = build_subprocess_env(spelling, {})
        assert child["HOME"] == child["PWD"] == str(tmp_path.resolve() / "ws")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/local/bin::/usr/bin:/bin:", "/usr/local/bin:/usr/bin:/bin"),
        (":/bin", "/bin"),
        (".:/bin:./tools:bin:~/bin", "/bin"),
        ("/a b:/bin", "/a b:/bin"),
        ("/a\nb:/bin:/c\x1b", "/bin"),
        ("", os.defpath.lstrip(":")),
        (":::", os.defpath.lstrip(":")),
        (".", os.defpath.lstrip(":")),
        (None, os.defpath.lstrip(":")),
    ],
)
def test_path_has_absolute_entries_only(tmp_path, path, expected):
    assert build_subprocess_env(tmp_path, {"PATH": path} if path else {})["PATH"] == expected


@pytest.mark.parametrize("name", environment.TEMPORARY_NAMES)
@pytest.mark.parametrize(
    "value", ["", ".", "tmp", "{base}/nope", "{base}/file", "{base}/line\nbreak", "{base}\n", "/\0"]
)
def test_a_directory_for_temporary_files_must_be_one(tmp_path, monkeypatch, name, value):
    (tmp_path / "file").touch()
    (tmp_path / "line\nbreak").mkdir()
    (tmp_path / "tmp").mkdir()
    monkeypatch.chdir(tmp_path)
    assert name not in build_subprocess_env(tmp_path, {name: value.format(base=tmp_path)})


@pytest.mark.parametrize("name", ["LANG", "LC_ALL", "LC_CTYPE"])
@pytest.mark.parametrize(
    "value",
    ["", "xx_YY.UTF-8", "de_DE.NOPE", "../../etc", "/tmp/x", "() { :; }", "C\n", "C;x", "\udcff"],
)
def test_an_unknown_locale_is_dropped(tmp_path, name, value):
    assert name not in build_subprocess_env(tmp_path, {name: value})


@pytest.mark.parametrize(
    "value", ["../x", "de/../x", "() { :; }", "de\n", "\x1b[2J", "d" * 131_072]
)
def test_languages_are_names(tmp_path, value):
    assert "LANGUAGE" not in build_subprocess_env(tmp_path, {"LANGUAGE": value})


@pytest.mark.parametrize("value", [None, 5, True, b"C", ["C"], Path("/"), object()])
def test_a_value_that_is_no_text_is_dropped(tmp_path, value):
    child = build_subprocess_env(tmp_path, dict.fromkeys(ALLOWED, value))
    assert set(child) == {"PATH", "HOME", "PWD"}
    assert child["PATH"] == os.defpath.lstrip(":")


@pytest.mark.parametrize("size", [130_000, 131_000, 131_072, 200_000])
@pytest.mark.parametrize("name", ["LANGUAGE", "PATH"])
def test_a_child_starts_whatever_the_length_of_a_value(tmp_path, name, size):
    """Linux takes at most 128 KiB (MAX_ARG_STRLEN) for one variable with its name."""
    value = "d:" * (size // 2) if name == "LANGUAGE" else "/d:" * (size // 3) + "/bin"
    child = build_subprocess_env(tmp_path, {name: value})
    assert subprocess.run(["/bin/sh", "-c", "true"], env=child).returncode == 0


def test_only_the_names_on_the_list_are_read(tmp_path, monkeypatch):
    """Another thread may change os.environ, and then it cannot be gone through."""
    gone_through = []
    monkeypatch.setattr(
        type(os.environ), "__iter__", lambda self: gone_through.append(1) or iter(())
    )
    monkeypatch.setenv("LC_ALL", "C")
    assert build_subprocess_env(tmp_path)["LC_ALL"] == "C"
    assert not gone_through


def test_known_locales_are_those_of_the_c_library():
    try:
        listed = subprocess.run(["locale", "-a"], capture_output=True, check=True).stdout.split()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no locale command here")
    for name in listed:
        if environment._LOCALE.fullmatch(name.decode("latin-1")):
            assert environment.is_known_locale(name.decode("latin-1"))


@pytest.mark.parametrize("name", ["LOCPATH", "LOCALE_ARCHIVE"])
@pytest.mark.parametrize("already_asked", [True, False])
def test_a_locale_that_only_the_harness_can_find_is_dropped(
    tmp_path, monkeypatch, name, already_asked
):
    """The variable that says where it lies is not passed on, so that a child would warn."""
    monkeypatch.delenv("LOCPATH", raising=False)
    monkeypatch.delenv("LOCALE_ARCHIVE", raising=False)
    environment._has_locale.cache_clear()
    source = {"LANG": "C.utf8", "LC_ALL": "en_US.UTF-8", "LC_TIME": "C.UTF-8", "LC_CTYPE": "POSIX"}
    with monkeypatch.context() as patch:
        patch.setattr(environment, "_has_locale", lambda name: True)
        assert {*source} <= {*build_subprocess_env(tmp_path, source)}
    if already_asked:
        build_subprocess_env(tmp_path, source)
    monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setattr(environment, "_has_locale", lambda name: True)
    child = build_subprocess_env(tmp_path, source)
    assert {n for n in child if n.startswith("L")} == {"LC_TIME", "LC_CTYPE"}


def test_without_ctypes_the_fixed_names_are_left(monkeypatch):
    monkeypatch.setitem(sys.modules, "ctypes", None)
    environment._has_locale.cache_clear()
    try:
        assert environment.is_known_locale("C.UTF-8")
        assert environment.is_known_locale("POSIX")
        assert not environment.is_known_locale("C.utf8")
    finally:
        environment._has_locale.cache_clear()


def test_the_locale_of_this_process_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(locale, "setlocale", None)
    before = locale.localeconv()
    environment._has_locale.cache_clear()
    source = {"LANG": "C.utf8", "LC_ALL": "xx_YY"}
    threads = [
        threading.Thread(target=build_subprocess_env, args=(tmp_path, source)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert locale.localeconv() == before


def test_the_default_is_the_harness_own_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    child = build_subprocess_env(tmp_path)
    assert child["LC_ALL"] == "C.UTF-8"
    assert "ANTHROPIC_API_KEY" not in child


values = (
    st.text()
    | st.none()
    | st.binary()
    | st.sampled_from(["/bin", "C", "C.UTF-8", "/", "() { :; }", "de", ":", "/\0"])
)
names = st.text() | st.sampled_from(sorted(ALLOWED))


@given(st.dictionaries(names, values))
def test_any_environment_gives_one_that_a_child_can_start_with(source):
    copy = dict(source)
    child = build_subprocess_env("/usr", source)
    assert source == copy
    assert set(child) <= ALLOWED
    for name, value in child.items():
        assert value
        assert "() {" not in value
        assert not any(ord(character) < 32 or ord(character) == 127 for character in value)
        os.fsencode(name + value)
    assert all(os.path.isabs(entry) for entry in child["PATH"].split(os.pathsep))
    assert child["HOME"] == child["PWD"] == os.path.realpath("/usr")


def test_on_windows_a_process_gets_what_it_needs_to_start(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "WINDOWS", True)
    child = build_subprocess_env(tmp_path, {"SystemRoot": "C:\\Windows", "Path": "/x", "Key": "k"})
    assert child["SYSTEMROOT"] == "C:\\Windows"
    assert child["PATH"] == "/x"
    assert "KEY" not in child
