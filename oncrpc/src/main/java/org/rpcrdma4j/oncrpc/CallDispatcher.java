// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import javax.security.auth.Subject;
import org.dcache.oncrpc4j.rpc.OncRpcProgram;
import org.dcache.oncrpc4j.rpc.OncRpcSvcBuilder;
import org.dcache.oncrpc4j.rpc.ReplyQueue;
import org.dcache.oncrpc4j.rpc.RpcAuthError;
import org.dcache.oncrpc4j.rpc.RpcAuthStat;
import org.dcache.oncrpc4j.rpc.RpcAuthType;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcDispatchable;
import org.dcache.oncrpc4j.rpc.RpcException;
import org.dcache.oncrpc4j.rpc.RpcRejectStatus;
import org.dcache.oncrpc4j.rpc.gss.GssProc;
import org.dcache.oncrpc4j.rpc.gss.GssProtocolFilter;
import org.dcache.oncrpc4j.rpc.gss.RpcAuthGss;
import org.dcache.oncrpc4j.rpc.gss.RpcGssCall;
import org.dcache.oncrpc4j.rpc.gss.RpcGssService;
import org.dcache.oncrpc4j.xdr.XdrVoid;
import org.glassfish.grizzly.filterchain.FilterChainContext;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.event.Counters;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.AuthStatus;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.DecodedCall;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * Brings received calls to oncrpc4j's programs, and sees to it that each gets an answer. Runs on the thread that calls it, which the program may
 * block; any number of threads at once.
 *
 * <p>What a program's exceptions become is as in oncrpc4j's own dispatcher. Unlike there, a reply that could not be encoded, a call that cannot
 * be read and an {@code Error} are answered too, and RPCSEC_GSS is refused when there is no session manager to verify it.
 */
final class CallDispatcher {

    private static final System.Logger LOG = System.getLogger(CallDispatcher.class.getName());

    private final Map<OncRpcProgram, RpcDispatchable> programs;
    private final Consumer<RpcCall> interceptor;
    private final boolean propagatesSubject;
    private final @Nullable GssProtocolFilter gss;
    private final Executor completions;
    private final ReplyQueue noCalls = new ReplyQueue();
    private final Counters<ServiceCounter> counters = new Counters<>(ServiceCounter.class);

    /**
     * A dispatcher for the builder's programs; those that are added later count too.
     *
     * @param completions tells listeners that a reply is on its way
     */
    CallDispatcher(OncRpcSvcBuilder builder, Executor completions) {
        programs = builder.getRpcServices();
        interceptor = builder.getCallInterceptor();
        propagatesSubject = builder.getSubjectPropagation();
        gss = builder.getGssSessionManager() == null ? null : new GssProtocolFilter(builder.getGssSessionManager());
        this.completions = completions;
    }

    Counters<ServiceCounter> counters() {
        return counters;
    }

    /** One call. It was answered, or its program has it, when this returns. */
    void dispatch(List<MemorySegment> message, CallSink sink) {
        counters.increment(ServiceCounter.CALLS);
        CallSink counting = new CountingSink(sink, counters);
        switch (CallHeader.decode(new XdrReader(message))) {
            case CallHeader header -> serve(header.xid(), new RequestXdr(message, counting), counting);
            case DecodedCall.Refused refused -> {
                counters.increment(ServiceCounter.REFUSED);
                counting.replyError(refused.reply());
            }
            case DecodedCall.NotACall _, DecodedCall.TooShort _ -> {
                counters.increment(ServiceCounter.REFUSED);
                counting.refuse();
            }
        }
    }

    private void serve(int xid, RequestXdr xdr, CallSink sink) {
        RpcCall call = new RpcCall(xid, xdr, new ReplyingTransport(sink, completions, noCalls, counters));
        try {
            xdr.beginDecoding();
            xdr.xdrDecodeInt();
            xdr.xdrDecodeInt();
            call.accept();
        } catch (RpcException e) {
            refuse(call, e);
            return;
        } catch (IOException | RuntimeException e) {
            // RFC 5531, Section 9: AUTH_BADCRED; the header around it was read already.
            LOG.log(Level.DEBUG, "credential of call 0x" + Integer.toHexString(xid) + " cannot be decoded", e);
            counters.increment(ServiceCounter.REFUSED);
            sink.replyError(new ReplyHeader.AuthError(xid, AuthStatus.AUTH_BADCRED));
            return;
        }
        RpcCall admitted = call.getCredential().type() == RpcAuthType.RPCGSS_SEC ? authenticate(call, sink) : call;
        if (admitted != null) {
            run(admitted, xdr, sink);
        }
    }

    private void refuse(RpcCall call, RpcException reason) {
        counters.increment(ServiceCounter.REFUSED);
        call.reject(reason.getStatus(), reason.getRpcReply());
    }

    /** Lets oncrpc4j's filter do what RPCSEC_GSS asks for; null if that was all there is to the call. */
    private @Nullable RpcCall authenticate(RpcCall call, CallSink sink) {
        RpcAuthGss credential = (RpcAuthGss) call.getCredential();
        if (credential.getService() != RpcGssService.RPC_GSS_SVC_NONE && call.getXdr() instanceof RequestXdr xdr) {
            xdr.keepTogether();
        }
        GssProtocolFilter filter = gss;
        if (filter == null) {
            // Nobody can say who the caller is.
            refuse(call, AuthStatus.AUTH_REJECTEDCRED.value());
            return null;
        }
        FilterChainContext context = new FilterChainContext();
        context.setMessage(call);
        try {
            filter.handleRead(context);
        } catch (IOException | RuntimeException e) {
            LOG.log(Level.WARNING, "RPCSEC_GSS of " + call, e);
            refuse(call, RpcAuthStat.RPCSEC_GSS_CTXPROBLEM);
            return null;
        }
        if (context.getMessage() instanceof RpcGssCall protectedCall) {
            return protectedCall;
        }
        if (!sink.isAnswered()) {
            if (credential.getProc() == GssProc.RPCSEC_GSS_DESTROY) {
                // RFC 2203, Section 5.4: answered as a NULL call is; the filter leaves it without an answer.
                call.reply(XdrVoid.XDR_VOID);
            } else {
                refuse(call, RpcAuthStat.RPCSEC_GSS_CREDPROBLEM);
            }
        }
        return null;
    }

    private void refuse(RpcCall call, int authStatus) {
        counters.increment(ServiceCounter.REFUSED);
        call.reject(RpcRejectStatus.AUTH_ERROR, new RpcAuthError(authStatus));
    }

    private void run(RpcCall call, RequestXdr xdr, CallSink sink) {
        RpcDispatchable program = programs.get(new OncRpcProgram(call.getProgram(), call.getProgramVersion()));
        if (program == null) {
            call.failProgramUnavailable();
            return;
        }
        try {
            interceptor.accept(call);
            runAsCaller(program, call);
        } catch (RpcException e) {
            LOG.log(Level.DEBUG, "program rejects " + call, e);
            refuse(call, e);
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "arguments of " + call, e);
            call.failRpcGarbage();
        } catch (RuntimeException | Error e) {
            counters.increment(ServiceCounter.PROGRAM_FAILURES);
            if (!sink.isAnswered()) {
                call.failRpcSystem();
            }
            throw e;
        }
        if (xdr.hasUnsentReply()) {
            counters.increment(ServiceCounter.ENCODING_FAILURES);
            sink.replyError(ReplyHeader.of(call.getXid(), AcceptStatus.SYSTEM_ERR));
        }
    }

    private void runAsCaller(RpcDispatchable program, RpcCall call) throws IOException {
        if (!propagatesSubject) {
            program.dispatchOncRpcCall(call);
            return;
        }
        try {
            Subject.callAs(call.getCredential().getSubject(), () -> {
                program.dispatchOncRpcCall(call);
                return null;
            });
        } catch (CompletionException e) {
            switch (e.getCause()) {
                case IOException cause -> throw cause;
                case RuntimeException cause -> throw cause;
                case null, default -> throw e;
            }
        }
    }
}
