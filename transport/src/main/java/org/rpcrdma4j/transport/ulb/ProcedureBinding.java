// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.List;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/** The binding of a protocol whose procedures each have one shape of arguments and one of results. A procedure not listed has no items. */
final class ProcedureBinding implements UpperLayerBinding {

    /** One procedure; its number is its place in the list. */
    record Procedure(String name, Shape arguments, Shape results) {}

    private final List<Procedure> procedures;
    private final ResultLimits limits;
    private final long[] smallestResults;

    ProcedureBinding(List<Procedure> procedures, ResultLimits limits) {
        this.procedures = procedures;
        this.limits = limits;
        smallestResults = procedures.stream()
                .mapToLong(procedure -> procedure.results().smallestIfOk())
                .toArray();
    }

    private boolean isKnown(CallHeader call) {
        return isKnown(call.procedure());
    }

    private boolean isKnown(int procedure) {
        return Integer.compareUnsigned(procedure, procedures.size()) < 0;
    }

    @Override
    public long smallestResults(int procedure) {
        return isKnown(procedure) ? smallestResults[procedure] : 0;
    }

    @Override
    public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) throws XdrException {
        if (isKnown(call)) {
            procedures.get(call.procedure()).arguments.walk(new Walk(arguments, sink, limits));
        }
    }

    @Override
    public void resultItems(CallHeader call, XdrReader results, ItemSink sink) throws XdrException {
        if (isKnown(call)) {
            procedures.get(call.procedure()).results.walk(new Walk(results, sink, limits));
        }
    }

    @Override
    public ReplyBound replyBound(CallHeader call, XdrReader arguments) throws XdrException {
        BoundSum sum = new BoundSum(limits, ReplyHeader.MAX_SUCCESS_LENGTH);
        if (isKnown(call)) {
            Procedure procedure = procedures.get(call.procedure());
            Walk walk = new Walk(arguments, ItemSink.UNREDUCED, limits);
            procedure.arguments.walk(walk);
            sum.add(procedure.results, walk);
        } else {
            sum.addUnknown();
        }
        return sum.bound();
    }
}
