// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * NFS version 4, all minor versions (RFC 8267, Section 6.1): eligible in a COMPOUND are WRITE's data and the link text of CREATE; READ's
 * data and READLINK's text.
 *
 * <p>To find them one must pass over all other operations. One that isn't known ends the walk: what follows it has no known place, so
 * nothing there is eligible. The NULL procedure and unknown procedures have no items.
 */
final class Nfs4Compound implements UpperLayerBinding {

    private static final int NULL = 0;
    private static final int COMPOUND = 1;

    /** Status, tag's count word, count word of the results. */
    private static final int RESULT_HEAD = 12;

    /** By minor version: number of the last operation. */
    private static final int[] LAST_OPERATION = {39, 58, 75};

    private static final int ILLEGAL = 10044;
    private static final Nfs4Operation ILLEGAL_OPERATION =
            new Nfs4Operation(ILLEGAL, "ILLEGAL", Shapes.VOID, Shapes.INT);

    private static final @Nullable Nfs4Operation[] OPERATIONS = new Nfs4Operation[76];

    static {
        for (List<Nfs4Operation> part : List.of(
                Nfs40Operations.FILES,
                Nfs40Operations.STATE,
                Nfs41Operations.SESSIONS,
                Nfs41Operations.LAYOUTS_AND_DELEGATIONS,
                Nfs42Operations.ALL)) {
            for (Nfs4Operation operation : part) {
                OPERATIONS[operation.number()] = operation;
            }
        }
    }

    private final ResultLimits limits;

    Nfs4Compound(ResultLimits limits) {
        this.limits = limits;
    }

    /** The operation with that number if it is no later than the last one; null if there is none. */
    static @Nullable Nfs4Operation operation(int number, int last) {
        if (number == ILLEGAL) {
            return ILLEGAL_OPERATION;
        }
        return number >= 0 && number <= last ? OPERATIONS[number] : null;
    }

    private static int lastOperation(int minorVersion) {
        return minorVersion >= 0 && minorVersion < LAST_OPERATION.length ? LAST_OPERATION[minorVersion] : -1;
    }

    @Override
    public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) throws XdrException {
        if (call.procedure() == COMPOUND) {
            walkArguments(new Walk(arguments, sink, limits), null);
        }
    }

    /** Walks the operations; adds what each can result in to the sum. */
    private static void walkArguments(Walk walk, @Nullable BoundSum sum) throws XdrException {
        XdrReader in = walk.in;
        long tag = in.skipOpaque(0xffff_ffffL);
        int last = lastOperation(in.readInt());
        int count = in.readCount(Integer.MAX_VALUE, 4);
        if (sum != null) {
            sum.add(RESULT_HEAD + XdrReader.padded(tag));
        }
        for (int i = 0; i < count; i++) {
            Nfs4Operation operation = operation(in.readInt(), last);
            if (operation == null) {
                if (sum != null) {
                    sum.addUnknown();
                }
                return;
            }
            walk.next();
            operation.arguments().walk(walk);
            if (sum != null) {
                sum.add(4);
                sum.add(operation.results(), walk);
            }
        }
    }

    @Override
    public void resultItems(CallHeader call, XdrReader results, ItemSink sink) throws XdrException {
        if (call.procedure() != COMPOUND) {
            return;
        }
        Walk walk = new Walk(results, sink, limits);
        // The status is that of the last operation executed; the results are those up to and with it.
        results.readInt();
        results.skipOpaque(0xffff_ffffL);
        int count = results.readCount(Integer.MAX_VALUE, 8);
        for (int i = 0; i < count; i++) {
            Nfs4Operation operation = operation(results.readInt(), OPERATIONS.length - 1);
            if (operation == null) {
                return;
            }
            operation.results().walk(walk);
        }
    }

    @Override
    public long smallestResults(int procedure) {
        return procedure == COMPOUND ? RESULT_HEAD : 0;
    }

    @Override
    public ReplyBound replyBound(CallHeader call, XdrReader arguments) throws XdrException {
        BoundSum sum = new BoundSum(limits, ReplyHeader.MAX_SUCCESS_LENGTH);
        if (call.procedure() == COMPOUND) {
            walkArguments(new Walk(arguments, ItemSink.UNREDUCED, limits), sum);
        } else if (call.procedure() != NULL) {
            sum.addUnknown();
        }
        return sum.bound();
    }
}
