// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A program that a server exports: its number, its versions, which may have holes, and their procedures. Immutable.
 *
 * <p>Numbers come from the peer and are looked up, never used as an index.
 */
public final class RpcProgram {

    private final int number;
    private final String name;
    private final Authenticator authenticator;
    private final List<Version> versions;

    private record Version(int number, Map<Integer, RpcProcedure> procedures, Set<Integer> once) {}

    private RpcProgram(Builder builder) {
        number = builder.number;
        name = builder.name;
        authenticator = builder.authenticator;
        List<Version> sorted = new ArrayList<>();
        builder.versions.forEach((version, procedures) -> sorted.add(new Version(
                version, Map.copyOf(procedures), Set.copyOf(builder.once.getOrDefault(version, Set.of())))));
        sorted.sort((a, b) -> Integer.compareUnsigned(a.number, b.number));
        versions = List.copyOf(sorted);
    }

    /** Begins a program. */
    public static Builder program(int number, String name) {
        return new Builder(number, name);
    }

    /** Its number, unsigned. */
    public int number() {
        return number;
    }

    /** Its name, for messages to people. */
    public String name() {
        return name;
    }

    /** Who may come. */
    public Authenticator authenticator() {
        return authenticator;
    }

    /** Lowest version exported. */
    public int lowestVersion() {
        return versions.getFirst().number;
    }

    /** Highest version exported. */
    public int highestVersion() {
        return versions.getLast().number;
    }

    /** Whether that version is exported. */
    public boolean hasVersion(int version) {
        return find(version) != null;
    }

    /** The procedure; null if the version isn't exported or has no such procedure. */
    public @Nullable RpcProcedure procedure(int version, int procedure) {
        Version found = find(version);
        return found == null ? null : found.procedures.get(procedure);
    }

    /** Whether the procedure must not run twice for one call. */
    public boolean isOnce(int version, int procedure) {
        Version found = find(version);
        return found != null && found.once.contains(procedure);
    }

    private @Nullable Version find(int version) {
        for (int i = 0; i < versions.size(); i++) {
            if (versions.get(i).number == version) {
                return versions.get(i);
            }
        }
        return null;
    }

    /** Collects versions and procedures. Every version has procedure 0, which does nothing unless another is given. */
    public static final class Builder {

        private final int number;
        private final String name;
        private final Map<Integer, Map<Integer, RpcProcedure>> versions = new HashMap<>();
        private final Map<Integer, Set<Integer>> once = new HashMap<>();
        private Authenticator authenticator = Authenticator.NONE_AND_SYS;

        private Builder(int number, String name) {
            this.number = number;
            this.name = name;
        }

        /** Who may come; {@link Authenticator#NONE_AND_SYS} if this isn't called. */
        public Builder authenticator(Authenticator newAuthenticator) {
            authenticator = newAuthenticator;
            return this;
        }

        /** A version, with procedure 0. */
        public Builder version(int version) {
            versions.computeIfAbsent(version, v -> new HashMap<>(Map.of(0, RpcProcedure.NULL)));
            return this;
        }

        /** A procedure of a version. It may run twice for one call: a client that got no reply sends again. */
        public Builder procedure(int version, int procedure, RpcProcedure code) {
            once.computeIfAbsent(version, v -> new HashSet<>()).remove(procedure);
            return add(version, procedure, code);
        }

        /**
         * A procedure that must not run twice for one call. Its table gives the first run's reply to a call that comes again, if it has
         * a {@link ReplyCache}. The reply is recorded up to {@link ReplyCache#MAX_REPLY_BYTES}. The procedure should not need memory of
         * its {@link CallContext}: there is none when the connection has ended meanwhile, and that failure is recorded.
         */
        public Builder once(int version, int procedure, RpcProcedure code) {
            once.computeIfAbsent(version, v -> new HashSet<>()).add(procedure);
            return add(version, procedure, code);
        }

        private Builder add(int version, int procedure, RpcProcedure code) {
            version(version);
            Map<Integer, RpcProcedure> procedures = versions.get(version);
            if (procedures != null) {
                procedures.put(procedure, code);
            }
            return this;
        }

        /**
         * The program.
         *
         * @throws IllegalStateException if it has no version
         */
        public RpcProgram build() {
            if (versions.isEmpty()) {
                throw new IllegalStateException("program " + name + " has no version");
            }
            return new RpcProgram(this);
        }
    }
}
