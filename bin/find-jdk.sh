# SPDX-License-Identifier: Apache-2.0
# Sourced by the scripts of this project. find_jdk prints the home of a JDK that can build it, or fails:
# JAVA_HOME if new enough, else the java on the PATH, else the newest one below /usr/lib/jvm.

jdk_wanted=25

# Prints the feature number (25 for 25.0.1) of the JDK in directory $1; fails when there is no compiler.
jdk_feature() {
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 1
    local version=""
    if [ -r "$1/release" ]; then
        version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release")
    fi
    if [ -z "$version" ]; then
        version=$("$1/bin/java" -version 2>&1 | sed -n '1s/.*"\([0-9]*\).*/\1/p')
    fi
    [ -n "$version" ] && printf '%s\n' "$version"
}

jdk_is_new_enough() {
    local feature
    feature=$(jdk_feature "$1") && [ "$feature" -ge "$jdk_wanted" ]
}

find_jdk() {
    local home best="" best_feature=0 feature
    if [ -n "${JAVA_HOME:-}" ] && jdk_is_new_enough "$JAVA_HOME"; then
        printf '%s\n' "$JAVA_HOME"
        return 0
    fi
    if command -v java >/dev/null 2>&1; then
        home=$(java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p')
        if [ -n "$home" ] && jdk_is_new_enough "$home"; then
            printf '%s\n' "$home"
            return 0
        fi
    fi
    for home in /usr/lib/jvm/*; do
        feature=$(jdk_feature "$home") || continue
        if [ "$feature" -ge "$jdk_wanted" ] && [ "$feature" -gt "$best_feature" ]; then
            best=$home
            best_feature=$feature
        fi
    done
    [ -n "$best" ] && printf '%s\n' "$best"
}

# Sets and exports JAVA_HOME, or names in one line what is missing and ends the script with status 2.
# Argument "maven" asks for mvn too.
require_tools() {
    local missing="" home
    home=$(find_jdk) || missing="JDK $jdk_wanted or newer (set JAVA_HOME, or install one below /usr/lib/jvm)"
    if [ "${1:-}" = maven ] && ! command -v mvn >/dev/null 2>&1; then
        missing="${missing:+$missing, and }mvn (Apache Maven 3.8 or newer) on the PATH"
    fi
    if [ -n "$missing" ]; then
        printf '%s: missing: %s\n' "${0##*/}" "$missing" >&2
        exit 2
    fi
    export JAVA_HOME=$home
}
