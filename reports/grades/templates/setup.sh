#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image. A wheel of the suite beside this file is taken before the
# released one. Set PIP_EXTRA_INDEX_URL above to PyTorch's index of CPU builds for an image without CUDA's gigabytes.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

apt-get update
python=""
for version in 3.13 3.12 3.11; do
    if apt-get install -y --no-install-recommends "python$version" "python$version-venv"; then
        python="python$version"
        break
    fi
done
[ -n "$python" ] || { echo "no Python of at least 3.11 in this image: choose Ubuntu 22.04 or a later one" >&2; exit 1; }

"$python" -m venv /opt/attnconf
wheels=("$here"/*.whl)
if [ -e "${wheels[0]}" ]; then
    /opt/attnconf/bin/pip install "${wheels[0]}"
else
    /opt/attnconf/bin/pip install '@SUITE@'
fi
/opt/attnconf/bin/attnconf rubric check "$here/rubric.toml"@COURSE "$here/course"@
