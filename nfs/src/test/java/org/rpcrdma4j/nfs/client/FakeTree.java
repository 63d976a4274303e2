// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.nfs.protocol.FileName;
import org.rpcrdma4j.nfs.protocol.FileType;
import org.rpcrdma4j.nfs.protocol.Status;

/** The directories and files of a {@link FakeNfs}, by their handles. Guarded by its lock. */
final class FakeTree {
    final FakeNode root = new FakeNode(FileType.DIRECTORY, 1);
    private final Map<Long, FakeNode> nodes = new HashMap<>();
    private long lastId = 1;

    FakeTree() {
        nodes.put(1L, root);
    }

    /** The status with which a procedure fails. */
    static final class Refusal extends Exception {
        private static final long serialVersionUID = 1L;
        final Status status;

        Refusal(Status status) {
            super(status.name(), null, false, false);
            this.status = status;
        }
    }

    FakeNode add(FakeNode directory, FileName name, FileType type) {
        FakeNode node = new FakeNode(type, ++lastId);
        nodes.put(node.id, node);
        directory.children.put(name, node);
        return node;
    }

    /** Makes the handle stale. */
    void forget(FakeNode node) {
        nodes.remove(node.id);
    }

    /** What was not committed is gone. */
    void crash() {
        for (FakeNode node : nodes.values()) {
            node.data = node.durable.clone();
        }
    }

    FakeNode node(FileHandle handle) throws Refusal {
        byte[] bytes = handle.bytes();
        long id = 0;
        for (int i = 0; i < 8; i++) {
            id |= (bytes[i] & 0xffL) << (8 * i);
        }
        FakeNode node = nodes.get(id);
        if (node == null) {
            throw new Refusal(Status.STALE);
        }
        return node;
    }

    FakeNode child(FileHandle directory, FileName name) throws Refusal {
        FakeNode parent = node(directory);
        if (parent.type != FileType.DIRECTORY) {
            throw new Refusal(Status.NOTDIR);
        }
        FakeNode found = parent.children.get(name);
        if (found == null) {
            throw new Refusal(Status.NOENT);
        }
        return found;
    }

    /** A new thing in the directory, which has none of that name. */
    FakeNode fresh(FileHandle directory, FileName name, FileType type) throws Refusal {
        FakeNode parent = node(directory);
        if (parent.children.containsKey(name)) {
            throw new Refusal(Status.EXIST);
        }
        return add(parent, name, type);
    }

    /** What READDIR finds, itself and its parent first. */
    List<Map.Entry<FileName, FakeNode>> entries(FileHandle directory) throws Refusal {
        FakeNode node = node(directory);
        List<Map.Entry<FileName, FakeNode>> all = new ArrayList<>();
        all.add(Map.entry(FileName.of("."), node));
        all.add(Map.entry(FileName.of(".."), node));
        all.addAll(node.children.entrySet());
        return all;
    }
}
