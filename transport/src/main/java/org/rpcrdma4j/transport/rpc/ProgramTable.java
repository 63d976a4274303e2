// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/**
 * The programs that a server exports, and the answer to every call (RFC 5531, Section 9): results, or the error that fits.
 *
 * <p>Errors are looked for in the order: RPC version, form of credential and verifier, program, version of the program, caller, procedure,
 * arguments. Bytes behind the arguments make them undecodable (the RFC leaves that open): GARBAGE_ARGS, before anything was done, for
 * procedures that keep to {@link RpcRequest#endOfArguments}.
 *
 * <p>Knows no transport: call in, reply out. Keeps nothing of a call but what a {@link ReplyCache} keeps; any number of threads at once,
 * each with its own reader and writer.
 */
public final class ProgramTable {

    private static final System.Logger LOG = System.getLogger(ProgramTable.class.getName());

    /** So many failures are logged one by one; then only those whose number is a power of two. */
    private static final long FAILURES_LOGGED = 100;

    /** Searched from front to back: a server has a handful. */
    private final RpcProgram[] programs;

    private final @Nullable ReplyCache replies;

    private final AtomicLong failures = new AtomicLong();

    /** What became of a message. */
    public enum Outcome {
        /** It is a call, and the writer holds its reply. */
        REPLIED,
        /** It is a call that will be answered through {@link CallContext#answerLater}, or is already. The writer holds nothing. */
        ANSWERED_LATER,
        /** It is no call. It isn't answered: a REPLY belongs to a reverse call or to nobody. */
        NOT_A_CALL,
        /** It ends before XID and direction. It can't be answered. */
        TOO_SHORT
    }

    /**
     * A table of these programs, which executes every call that comes, also one that comes again.
     *
     * @throws IllegalArgumentException if two have the same number
     */
    public ProgramTable(List<RpcProgram> programs) {
        this(programs, null);
    }

    /**
     * A table of these programs.
     *
     * @param replies remembers the replies of procedures that must not run twice; may serve several tables, and should where a client may
     *     come by several transports; null for none
     * @throws IllegalArgumentException if two have the same number
     */
    public ProgramTable(List<RpcProgram> programs, @Nullable ReplyCache replies) {
        this.replies = replies;
        Set<Integer> numbers = new HashSet<>();
        for (RpcProgram program : programs) {
            if (!numbers.add(program.number())) {
                throw new IllegalArgumentException(
                        "two programs " + Integer.toUnsignedString(program.number()) + ", one is " + program.name());
            }
        }
        this.programs = programs.toArray(RpcProgram[]::new);
    }

    private @Nullable RpcProgram find(int number) {
        for (RpcProgram program : programs) {
            if (program.number() == number) {
                return program;
            }
        }
        return null;
    }

    /**
     * Answers one message. Nothing is thrown, whatever the message and whatever a procedure does.
     *
     * @param call the reader at the start of the message, unreduced
     * @param reply empty; holds the reply afterwards, if there is one
     */
    public Outcome dispatch(XdrReader call, XdrWriter reply) {
        return dispatch(new RpcRequest(call, reply, CallContext.NONE));
    }

    /**
     * The same.
     *
     * @param request its reader at the start of the message, its writer empty
     */
    public Outcome dispatch(RpcRequest request) {
        return switch (CallHeader.decode(request.arguments())) {
            case CallHeader header -> execute(header, request);
            case DecodedCall.Refused refused -> error(request, refused.reply());
            case DecodedCall.NotACall other -> Outcome.NOT_A_CALL;
            case DecodedCall.TooShort cut -> Outcome.TOO_SHORT;
        };
    }

    private static Outcome error(RpcRequest request, ReplyHeader error) {
        // ORDER: what a procedure had written of its results goes before the error is written.
        request.results().reset();
        error.encode(request.results());
        return Outcome.REPLIED;
    }

    private Outcome execute(CallHeader header, RpcRequest request) {
        int xid = header.xid();
        Credential credential;
        try {
            credential = Credential.decode(header.credential());
        } catch (XdrException e) {
            // RFC 5531, Appendix A: name and groups are bounded.
            return error(request, new ReplyHeader.AuthError(xid, AuthStatus.AUTH_BADCRED));
        }
        // RFC 5531, Appendix A: AUTH_SYS comes with the verifier AUTH_NONE.
        if (credential instanceof Credential.Sys && header.verifier().flavor() != AuthFlavor.AUTH_NONE.value()) {
            return error(request, new ReplyHeader.AuthError(xid, AuthStatus.AUTH_BADVERF));
        }
        RpcProgram program = find(header.program());
        if (program == null) {
            return error(request, ReplyHeader.of(xid, AcceptStatus.PROG_UNAVAIL));
        }
        if (!program.hasVersion(header.version())) {
            return error(request, ReplyHeader.programMismatch(xid, program.lowestVersion(), program.highestVersion()));
        }
        AuthStatus refusal;
        try {
            refusal = refusal(program, header, credential);
        } catch (RuntimeException | Error e) {
            logFailure(program, header, e);
            return error(request, ReplyHeader.of(xid, AcceptStatus.SYSTEM_ERR));
        }
        if (refusal != AuthStatus.AUTH_OK) {
            return error(request, new ReplyHeader.AuthError(xid, refusal));
        }
        RpcProcedure procedure = program.procedure(header.version(), header.procedure());
        if (procedure == null) {
            return error(request, ReplyHeader.of(xid, AcceptStatus.PROC_UNAVAIL));
        }
        request.begin(header, credential);
        ReplyCache cache = replies;
        if (cache != null && program.isOnce(header.version(), header.procedure())) {
            try {
                return cache.serve(header, request, () -> run(program, procedure, header, request));
            } finally {
                request.end();
            }
        }
        run(program, procedure, header, request);
        return Outcome.REPLIED;
    }

    /** Writes the reply: results or error. */
    private void run(RpcProgram program, RpcProcedure procedure, CallHeader header, RpcRequest request) {
        AcceptStatus failure;
        try {
            ReplyHeader.encodeSuccess(header.xid(), request.results());
            procedure.call(request);
            if (!request.argumentsEnded()) {
                request.arguments().requireEnd();
            }
            return;
        } catch (XdrException e) {
            failure = AcceptStatus.GARBAGE_ARGS;
        } catch (Throwable e) {
            // An Error too: the caller is owed an answer, and the thread serves others.
            failure = AcceptStatus.SYSTEM_ERR;
            logFailure(program, header, e);
        } finally {
            request.end();
        }
        error(request, ReplyHeader.of(header.xid(), failure));
    }

    private static AuthStatus refusal(RpcProgram program, CallHeader header, Credential credential) {
        // RFC 5531, Section 10: AUTH_NONE must be possible; here for the procedure by which a client finds out whether
        // the program is there.
        if (header.procedure() == 0 && credential instanceof Credential.None) {
            return AuthStatus.AUTH_OK;
        }
        return program.authenticator().check(header, credential);
    }

    private void logFailure(RpcProgram program, CallHeader header, Throwable failure) {
        if (failure instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        long count = failures.incrementAndGet();
        if (count <= FAILURES_LOGGED || Long.bitCount(count) == 1) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "SYSTEM_ERR for " + program.name() + " " + header + " (failure " + count + "): " + failure);
        }
    }

    /** Calls answered with SYSTEM_ERR. */
    public long failures() {
        return failures.get();
    }
}
