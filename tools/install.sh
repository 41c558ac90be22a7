# Makes the virtual environment and installs the course into it. Quiet and quick when nothing changed.
# `make` calls it with VENV and PYTHON; both may be empty. Exit 2: the machine lacks something.
set -u
trap 'exit 130' INT  # Ctrl-C ends this script, not only the installer that it waits for

venv=${VENV:-.venv}
wanted=${PYTHON:-}
stamp=$venv/installed-by-make
unfinished=$venv/unfinished

say() { printf '%s\n' "$*"; }
give_up() { printf '%s\n' "$*" >&2; exit 2; }

version_of() { "$1" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null; }
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

# The stamp's two lines name what the environment was made from, and where: a moved folder needs a
# new one. With VENV= another checkout's environment may be used, so there the first line decides.
fingerprint() { cat requirements.lock pyproject.toml | cksum; [ "$venv" != .venv ] || pwd; }
stamped() { if [ "$venv" = .venv ]; then cat "$stamp"; else head -n 1 "$stamp"; fi; }

working() { [ -x "$venv/bin/python" ] && new_enough "$venv/bin/python"; }

if working && [ -n "$wanted" ] && [ "$(version_of "$wanted")" != "$(version_of "$venv/bin/python")" ]; then
    give_up "$venv holds Python $(version_of "$venv/bin/python"), and PYTHON=$wanted is" \
        "$(version_of "$wanted"): run 'make clean' first."
fi

if working && [ ! -e "$unfinished" ] && [ -e "$stamp" ] && [ "$(stamped)" = "$(fingerprint)" ]; then
    exit 0
fi

# A run that was interrupted leaves `unfinished` behind; an upgraded system Python leaves a dead link.
if [ -e "$unfinished" ] || { [ -e "$venv/pyvenv.cfg" ] && ! working; }; then
    rm -rf "$venv"
fi

if ! working; then
    [ ! -e "$venv" ] || [ -z "$(ls -A "$venv")" ] ||
        give_up "$venv exists and is no virtual environment: move it away, or choose another with VENV=."
    python= found=
    for candidate in ${wanted:+"$wanted"} $([ -n "$wanted" ] || echo python3 python3.13 python3.12 python3.11); do
        version=$(version_of "$candidate") || continue
        if new_enough "$candidate"; then
            python=$candidate
            break
        fi
        found=${found:-"Python $version ($candidate)"}
    done
    if [ -z "$python" ]; then
        [ -n "$found" ] || found=${wanted:-No Python}
        case $found in
            Python*) rule='is too old: the course needs 3.11 or newer.' ;;
            *) rule='was found: the course needs Python 3.11 or newer.' ;;
        esac
        [ -z "$wanted" ] || [ "$found" != "$wanted" ] ||
            rule='does not run: the course needs Python 3.11 or newer.'
        give_up "$found $rule Install one and name it, as in: make lab PYTHON=python3.12"
    fi
    "$python" -c 'import venv, ensurepip' 2>/dev/null ||
        give_up "Python $version ($python) comes without its venv module: install it" \
            "(Debian, Ubuntu: sudo apt install python3-venv), then run make again."
    say "Making $venv with Python $version ..."
    mkdir -p "$venv"
    : >"$unfinished"
    "$python" -m venv "$venv" || give_up "Python's venv module failed, see above."
fi

: >"$unfinished"
rm -f "$stamp"
say "Installing the pinned packages (about 10 seconds; a minute without uv) ..."
quiet='--quiet --disable-pip-version-check'
if "$venv/bin/python" -m pip install $quiet --constraint requirements.lock uv 2>/dev/null &&
    "$venv/bin/python" -m uv pip install --quiet --python "$venv/bin/python" -r requirements.lock &&
    "$venv/bin/python" -m uv pip install --quiet --python "$venv/bin/python" --no-deps --editable .; then
    :
else
    say "uv is not to be had here, so pip installs them ..."
    "$venv/bin/python" -m pip install $quiet -r requirements.lock &&
        "$venv/bin/python" -m pip install $quiet --no-deps --editable . ||
        give_up "The packages could not be installed, see above. Is there a network? Then run make again."
fi
fingerprint >"$stamp"
rm -f "$unfinished"
