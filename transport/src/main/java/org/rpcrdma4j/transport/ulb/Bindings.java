// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import java.util.ArrayList;
import java.util.List;
import org.rpcrdma4j.transport.rpc.AuthFlavor;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.OpaqueAuth;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;

/**
 * The bindings by program and version. Immutable.
 *
 * <p>RFC 8267, Section 7: each program needs a binding of its own; a program without one has no eligible items.
 */
public final class Bindings {

    /** The program number of NFS. */
    public static final int NFS = 100003;

    /** A range of versions of one program, ends included, unsigned. */
    private record Entry(int program, int lowest, int highest, UpperLayerBinding binding) {

        boolean holds(int called, int version) {
            return called == program
                    && Integer.compareUnsigned(version, lowest) >= 0
                    && Integer.compareUnsigned(version, highest) <= 0;
        }
    }

    private final List<Entry> entries;
    private final UpperLayerBinding nothing;

    private Bindings(List<Entry> entries, UpperLayerBinding nothing) {
        this.entries = entries;
        this.nothing = nothing;
    }

    /**
     * No program has eligible items.
     *
     * @param defaultResultBytes the largest results of a procedure about which nothing is known
     */
    public static Bindings none(long defaultResultBytes) {
        return new Bindings(List.of(), new Nothing(ReplyHeader.MAX_SUCCESS_LENGTH + defaultResultBytes));
    }

    /**
     * NFS versions 2, 3 and 4 (RFC 8267). MOUNT, NLM, NSM, NFSACL and the callback programs have no eligible items (Sections 5.1, 5.2,
     * 6.5): they aren't listed.
     */
    public static Bindings nfs(ResultLimits limits) {
        return none(limits.unknownBytes())
                .with(NFS, 2, 2, new ProcedureBinding(Nfs2.PROCEDURES, limits))
                .with(NFS, 3, 3, new ProcedureBinding(Nfs3.PROCEDURES, limits))
                .with(NFS, 4, 4, new Nfs4Compound(limits));
    }

    /** These and one more, which is asked before the others. */
    public Bindings with(int program, int lowestVersion, int highestVersion, UpperLayerBinding binding) {
        List<Entry> more = new ArrayList<>(entries);
        more.addFirst(new Entry(program, lowestVersion, highestVersion, binding));
        return new Bindings(List.copyOf(more), nothing);
    }

    /** The binding for the call; that without eligible items if there is none, or if the call's security touches the data. */
    public UpperLayerBinding find(CallHeader call) {
        if (protectsData(call.credential())) {
            return nothing;
        }
        return find(call.program(), call.version());
    }

    private UpperLayerBinding find(int program, int version) {
        for (int i = 0; i < entries.size(); i++) {
            if (entries.get(i).holds(program, version)) {
                return entries.get(i).binding();
            }
        }
        return nothing;
    }

    /**
     * The smallest results of a call that succeeds; see {@link UpperLayerBinding#smallestResults}. Whatever protects the data of a call
     * makes its results larger, so that is not asked.
     */
    public long smallestResults(int program, int version, int procedure) {
        return find(program, version).smallestResults(procedure);
    }

    /**
     * RFC 8166, Section 8.2.2: with GSS integrity or privacy nothing is eligible, and GSS's own items never are. What can't be decoded
     * counts as one of these.
     */
    private static boolean protectsData(OpaqueAuth credential) {
        if (credential.flavor() != AuthFlavor.RPCSEC_GSS.value()) {
            return false;
        }
        try {
            XdrReader in = new XdrReader(credential.body());
            boolean isVersionOne = in.readInt() == 1;
            boolean isData = in.readInt() == 0;
            in.skip(4);
            boolean isPlain = in.readInt() == 1;
            return !(isVersionOne && isData && isPlain);
        } catch (XdrException e) {
            return true;
        }
    }

    /** RFC 8267, Section 7: nothing is eligible. */
    private record Nothing(long replyBytes) implements UpperLayerBinding {

        @Override
        public void argumentItems(CallHeader call, XdrReader arguments, ItemSink sink) {}

        @Override
        public void resultItems(CallHeader call, XdrReader results, ItemSink sink) {}

        @Override
        public ReplyBound replyBound(CallHeader call, XdrReader arguments) {
            return ReplyBound.configured(replyBytes);
        }
    }
}
