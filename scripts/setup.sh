# shellcheck shell=bash
# Sourced by the scripts beside it: changes to the root of the repository and makes sure that a Rust toolchain
# and the needed Debian packages are there. Where it may not install packages, it says which ones to install
# and ends the script with exit status 2.

set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."

heading() {
    printf '\n== %s (%d s)\n' "$*" "$SECONDS" >&2
}

# Arguments are PROGRAM=PACKAGE, or FILE=PACKAGE with an absolute path that may hold wildcards; prints the
# packages of those that do not exist.
missing_packages() {
    local pair program
    for pair in "$@"; do
        program=${pair%%=*}
        case $program in
            /*) compgen -G "$program" > /dev/null || echo "${pair#*=}" ;;
            *) command -v "$program" > /dev/null 2>&1 || echo "${pair#*=}" ;;
        esac
    done | sort -u
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
    command -v apt-get > /dev/null 2>&1 && { [ "$(id -u)" = 0 ] || sudo -n true 2> /dev/null; }
}

install_packages() {
    local packages
    mapfile -t packages < <(missing_packages "$@")
    [ ${#packages[@]} -gt 0 ] || return 0
    if ! may_install; then
        echo "install these packages first (names as in Debian and Ubuntu): ${packages[*]}" >&2
        exit 2
    fi
    heading "installing ${packages[*]}"
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${packages[@]}" > /dev/null
}

find_cargo() {
    command -v cargo > /dev/null 2>&1 || PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
    if ! command -v cargo > /dev/null 2>&1; then
        echo "install a Rust toolchain first: no cargo in PATH or ~/.cargo/bin" >&2
        exit 2
    fi
}

# Components of the Rust toolchain that a minimal installation lacks.
install_components() {
    local component
    for component in "$@"; do
        local command=${component#rust}
        if ! cargo "$command" --version > /dev/null 2>&1 && ! rustup component add "$component"; then
            echo "install $component for this Rust toolchain first" >&2
            exit 2
        fi
    done
}

# What every MPI's launcher needs to be told, here and in containers.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
