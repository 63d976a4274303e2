// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.io.IOException;

/** A call that the server answered with an error (RFC 5531, Section 9), or whose answer can't be understood. */
public sealed class RpcException extends IOException {

    private static final long serialVersionUID = 1L;

    private RpcException(String message) {
        super(message);
    }

    private static String range(int low, int high) {
        return Integer.toUnsignedString(low) + " to " + Integer.toUnsignedString(high);
    }

    /** The server doesn't export the program. */
    public static final class ProgramUnavailable extends RpcException {
        private static final long serialVersionUID = 1L;

        ProgramUnavailable() {
            super("PROG_UNAVAIL: the server does not export the program");
        }
    }

    /** The server doesn't export that version of the program. */
    public static final class ProgramMismatch extends RpcException {
        private static final long serialVersionUID = 1L;

        private final int low;
        private final int high;

        ProgramMismatch(int low, int high) {
            super("PROG_MISMATCH: the server exports versions " + range(low, high));
            this.low = low;
            this.high = high;
        }

        /** Lowest version that the server exports, unsigned. */
        public int low() {
            return low;
        }

        /** Highest version that the server exports, unsigned. */
        public int high() {
            return high;
        }
    }

    /** The program has no such procedure. */
    public static final class ProcedureUnavailable extends RpcException {
        private static final long serialVersionUID = 1L;

        ProcedureUnavailable() {
            super("PROC_UNAVAIL: the program has no such procedure");
        }
    }

    /** The server can't decode the arguments. */
    public static final class GarbageArguments extends RpcException {
        private static final long serialVersionUID = 1L;

        GarbageArguments() {
            super("GARBAGE_ARGS: the server can't decode the arguments");
        }
    }

    /** The server failed on its own account. */
    public static final class SystemError extends RpcException {
        private static final long serialVersionUID = 1L;

        SystemError() {
            super("SYSTEM_ERR: the server failed");
        }
    }

    /** The server doesn't speak RPC version 2. */
    public static final class RpcMismatch extends RpcException {
        private static final long serialVersionUID = 1L;

        private final int low;
        private final int high;

        RpcMismatch(int low, int high) {
            super("RPC_MISMATCH: the server speaks RPC versions " + range(low, high));
            this.low = low;
            this.high = high;
        }

        /** Lowest RPC version that the server speaks, unsigned. */
        public int low() {
            return low;
        }

        /** Highest RPC version that the server speaks, unsigned. */
        public int high() {
            return high;
        }
    }

    /** The server refuses the caller. */
    public static final class AuthenticationError extends RpcException {
        private static final long serialVersionUID = 1L;

        private final AuthStatus status;

        AuthenticationError(AuthStatus status) {
            super("AUTH_ERROR: the server refuses the caller: " + status);
            this.status = status;
        }

        /** Why. */
        public AuthStatus status() {
            return status;
        }
    }

    /** The bytes are no reply to the call: cut, an enum value that isn't declared, another XID. Nothing of it can be trusted. */
    public static final class BadReply extends RpcException {
        private static final long serialVersionUID = 1L;

        BadReply(String message) {
            super("bad reply: " + message);
        }
    }
}
