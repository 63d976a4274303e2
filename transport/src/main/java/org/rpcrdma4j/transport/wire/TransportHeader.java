// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

/**
 * The header of one transport message; see the package for its picture. A carrier: made once, refilled for each message, either by
 * {@link HeaderDecoder} or by a sender who then hands it to {@link HeaderEncoder}. Confined to its owner.
 */
public final class TransportHeader {
    /** The version of the protocol that is spoken here, the only one. */
    public static final int VERSION = 1;

    /** Bytes of the four words that every version of the protocol begins with. */
    public static final int FIXED_BYTES = 16;

    /** Bytes of the smallest header but that of an ERR_CHUNK: the fixed part and three absent lists. */
    public static final int MIN_BYTES = 28;

    /** Bytes of an RDMA_ERROR with ERR_CHUNK. */
    public static final int ERROR_CHUNK_BYTES = 20;

    /** Bytes of an RDMA_ERROR with ERR_VERS. */
    public static final int ERROR_VERSION_BYTES = 28;

    private final ReadList readList = new ReadList();
    private final WriteList writeList = new WriteList();
    private final Segments replyChunk = new Segments();
    private boolean replyChunkPresent;
    private int xid;
    private int version = VERSION;
    private int credits;
    private int procedureWord;
    private Procedure procedure = Procedure.RDMA_MSG;
    private ErrorCode errorCode = ErrorCode.ERR_CHUNK;
    private int lowVersion;
    private int highVersion;
    private int length;

    /** Makes a header as {@link #clear} leaves it. */
    public TransportHeader() {}

    /** Identifies the RPC message: always the XID inside it. */
    public int xid() {
        return xid;
    }

    /** Sets the XID. */
    public void xid(int value) {
        xid = value;
    }

    /** The version word. */
    public int version() {
        return version;
    }

    /** Sets the version word, which only an RDMA_ERROR sends: all other messages say {@link #VERSION}. */
    public void version(int value) {
        version = value;
    }

    /** Requested or granted credits, as they came: unsigned, 0 not excluded. */
    public int credits() {
        return credits;
    }

    /** Sets the credits. */
    public void credits(int value) {
        credits = value;
    }

    /** What the message is. */
    public Procedure procedure() {
        return procedure;
    }

    /** The procedure word as it came, known or not. */
    public int procedureWord() {
        return procedureWord;
    }

    /** Sets what the message is. */
    public void procedure(Procedure value) {
        procedure = value;
        procedureWord = value.word();
    }

    void procedureWord(int word) {
        procedure = Procedure.of(word);
        procedureWord = word;
    }

    /** Memory that the Responder reads. */
    public ReadList readList() {
        return readList;
    }

    /** Memory that the Responder writes results into. */
    public WriteList writeList() {
        return writeList;
    }

    /** Whether the Reply chunk is there. */
    public boolean hasReplyChunk() {
        return replyChunkPresent;
    }

    /** Memory that the Responder writes a whole reply into; no segments if there is no Reply chunk. */
    public Segments replyChunk() {
        return replyChunk;
    }

    /** Says whether the Reply chunk is there; without one its segments are forgotten. */
    public void replyChunkPresent(boolean value) {
        replyChunkPresent = value;
        if (!value) {
            replyChunk.clear();
        }
    }

    /** Whether Read list, Write list and Reply chunk are all absent. */
    public boolean hasNoChunks() {
        return readList.isEmpty() && writeList.isEmpty() && !replyChunkPresent;
    }

    /** What an RDMA_ERROR complains of; means nothing in other messages. */
    public ErrorCode errorCode() {
        return errorCode;
    }

    /** Sets what an RDMA_ERROR complains of. */
    public void errorCode(ErrorCode value) {
        errorCode = value;
    }

    /** Lowest version that the sender of an ERR_VERS speaks. */
    public int lowVersion() {
        return lowVersion;
    }

    /** Highest version that the sender of an ERR_VERS speaks. */
    public int highVersion() {
        return highVersion;
    }

    /** Sets the versions of an ERR_VERS. */
    public void versions(int low, int high) {
        lowVersion = low;
        highVersion = high;
    }

    /**
     * Bytes of the header as it was decoded or encoded last, which is the offset of the RPC message of an RDMA_MSG; 0 if it was
     * neither, or with an outcome other than {@link HeaderDecoder.Outcome#OK}. Before encoding see {@link HeaderEncoder#length}.
     */
    public int length() {
        return length;
    }

    void length(int value) {
        length = value;
    }

    /** Forgets all: an RDMA_MSG of version 1 without chunks, XID and credits 0. */
    public void clear() {
        xid = 0;
        version = VERSION;
        credits = 0;
        procedure(Procedure.RDMA_MSG);
        clearBody();
    }

    /** Forgets all but the fixed part. */
    void clearBody() {
        readList.clear();
        writeList.clear();
        replyChunkPresent(false);
        errorCode = ErrorCode.ERR_CHUNK;
        lowVersion = 0;
        highVersion = 0;
        length = 0;
    }

    /** All of it in one line. */
    @Override
    public String toString() {
        StringBuilder text =
                new StringBuilder("xid=%08x credits=%s ".formatted(xid, Integer.toUnsignedString(credits)));
        if (version != VERSION) {
            text.append("version=").append(Integer.toUnsignedString(version)).append(' ');
        }
        text.append(procedure);
        switch (procedure) {
            case UNKNOWN -> text.append('=').append(Integer.toUnsignedString(procedureWord));
            case RDMA_MSGP, RDMA_DONE -> {}
            case RDMA_ERROR -> {
                text.append(' ').append(errorCode);
                if (errorCode == ErrorCode.ERR_VERS) {
                    text.append(' ')
                            .append(Integer.toUnsignedString(lowVersion))
                            .append("..")
                            .append(Integer.toUnsignedString(highVersion));
                }
            }
            case RDMA_MSG, RDMA_NOMSG -> {
                text.append(readList.isEmpty() ? "" : " read=" + readList);
                text.append(writeList.isEmpty() ? "" : " write=" + writeList);
                text.append(replyChunkPresent ? " reply=" + replyChunk : "");
            }
        }
        return text.toString();
    }
}
