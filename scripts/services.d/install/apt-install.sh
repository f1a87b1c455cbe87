#!/bin/sh
# Installs Debian packages without starting the services that come with them.
# usage: apt-install.sh PACKAGE...
set -eu

policy=/usr/sbin/policy-rc.d
aside=$policy.lazaret-aside
mark='# lazaret: no service starts while its package is installed'

main() {
  put_back # what a run that was killed left behind
  trap put_back EXIT
  trap 'exit 143' HUP INT TERM
  hold_services_back
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq update
  apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=300 install "$@"
}

hold_services_back() {
  if exists "$policy"; then mv "$policy" "$aside"; fi
  printf '#!/bin/sh\n%s\nexit 101\n' "$mark" >"$policy"
  chmod +x "$policy"
}

put_back() {
  if grep -qsxF "$mark" "$policy"; then rm "$policy"; fi
  if exists "$aside"; then mv "$aside" "$policy"; fi
}

# Whatever it is; a link may point at nothing.
exists() {
  [ -e "$1" ] || [ -L "$1" ]
}

main "$@"
