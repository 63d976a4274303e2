// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.rpcrdma4j.nfs.protocol.Attributes;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.PathBytes;
import org.rpcrdma4j.nfs.protocol.SetAttributes;
import org.rpcrdma4j.nfs.protocol.SetTime;
import org.rpcrdma4j.nfs.protocol.Time;

/** A file of {@link FakeNfs}, in memory. */
final class FakeNode {

    final FileType type;
    final long id;
    final Map<FileName, FakeNode> children = new LinkedHashMap<>();
    PathBytes target = PathBytes.of("");
    byte[] data = new byte[0];
    /** What a crash leaves. */
    byte[] durable = new byte[0];

    int mode = 0644;
    int links = 1;
    int uid;
    int gid;
    long exclusiveVerifier;
    Time modified = new Time(1_000_000, 5);

    FakeNode(FileType type, long id) {
        this.type = type;
        this.id = id;
    }

    FileHandle handle() {
        byte[] bytes = new byte[12];
        for (int i = 0; i < 8; i++) {
            bytes[i] = (byte) (id >>> (8 * i));
        }
        return FileHandle.of(bytes);
    }

    Attributes attributes() {
        long size = type == FileType.SYMBOLIC_LINK ? target.length() : data.length;
        return new Attributes(type, mode, links, uid, gid, size, size, 0, 0, 1, id, modified, modified, modified);
    }

    void set(SetAttributes attributes) {
        mode = attributes.mode() == null ? mode : attributes.mode();
        uid = attributes.uid() == null ? uid : attributes.uid();
        gid = attributes.gid() == null ? gid : attributes.gid();
        if (attributes.size() != null) {
            data = Arrays.copyOf(data, (int) (long) attributes.size());
            durable = data.clone();
        }
        if (attributes.modifyTime() instanceof SetTime.To to) {
            modified = to.time();
        }
    }
}
