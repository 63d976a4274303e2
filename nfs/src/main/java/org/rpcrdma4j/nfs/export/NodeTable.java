// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.export;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileName;

/**
 * Where files are: inode to parent and name. Directories are nodes, not paths, so a renamed directory takes everything below it along. What it says
 * is a hint: whoever uses a place checks that the inode is there.
 *
 * <p>Bounded: beyond {@code capacity} the longest unused nodes are forgotten, but none that others are in, and never the root. Any thread; its own
 * lock, inside which nothing waits.
 */
final class NodeTable {

    /** Hard links of one file that are remembered. */
    private static final int MAX_PLACES = 8;

    private final int capacity;
    private final Node root;
    private final Map<Long, Node> nodes = new HashMap<>();
    private @Nullable Node oldest;
    private @Nullable Node newest;
    private long directoryMoves;

    NodeTable(FileStatus root, long rootBirth, int capacity) {
        this.capacity = capacity;
        this.root = new Node(root.inode(), rootBirth, true);
        // Not in the list: never forgotten.
        this.root.children = 1;
        nodes.put(root.inode(), this.root);
    }

    Node root() {
        return root;
    }

    /** What is remembered of an inode; counts as a use. */
    synchronized @Nullable Node find(long inode) {
        Node node = nodes.get(inode);
        if (node != null) {
            touch(node);
        }
        return node;
    }

    synchronized int size() {
        return nodes.size();
    }

    /** How often a directory was seen elsewhere than before. */
    synchronized long directoryMoves() {
        return directoryMoves;
    }

    /** Remembers that a file was seen there. */
    synchronized Node place(Node parent, FileName name, FileStatus status, long birth) {
        Node node = nodes.get(status.inode());
        if (node != null && (node.birth != birth || node.isDirectory != status.isDirectory())) {
            forget(node);
            node = null;
        }
        if (node == null) {
            node = new Node(status.inode(), birth, status.isDirectory());
            nodes.put(status.inode(), node);
        }
        if (node != root) {
            addPlace(node, new Node.Place(parent, name));
        }
        touch(node);
        evict(node);
        return node;
    }

    private void addPlace(Node node, Node.Place place) {
        List<Node.Place> places = node.places();
        if (!places.isEmpty() && isSame(places.getFirst(), place)) {
            return;
        }
        List<Node.Place> now = new ArrayList<>(places.size() + 1);
        now.add(place);
        if (node.isDirectory) {
            directoryMoves++;
            breakCycle(node, place.parent());
        } else {
            for (Node.Place other : places) {
                if (!isSame(other, place) && now.size() < MAX_PLACES) {
                    now.add(other);
                }
            }
        }
        setPlaces(node, now);
    }

    /** Directories that other processes moved can make the table say that one is below itself: then an older place in the circle is wrong. */
    private void breakCycle(Node node, Node newParent) {
        if (newParent == node) {
            return;
        }
        for (Node up = newParent; up != null; up = up.parent()) {
            if (up.parent() == node) {
                setPlaces(up, List.of());
                return;
            }
        }
    }

    /** Whether the table says how to get to it from the root. */
    synchronized boolean isConnected(Node node) {
        Node up = node;
        while (up != null && up != root) {
            up = up.parent();
        }
        return up == root;
    }

    /** Remembers that a file is not there any more. */
    synchronized void displace(Node node, Node parent, FileName name) {
        Node.Place gone = new Node.Place(parent, name);
        List<Node.Place> left = new ArrayList<>(node.places());
        if (left.removeIf(place -> isSame(place, gone))) {
            setPlaces(node, left);
        }
    }

    /** Forgets a file that does not exist any more. What the table says to be in it can't be found any more. */
    synchronized void forget(Node node) {
        if (node != root && nodes.remove(node.inode, node)) {
            setPlaces(node, List.of());
            unlist(node);
        }
    }

    private static boolean isSame(Node.Place a, Node.Place b) {
        return a.parent() == b.parent() && a.name().equals(b.name());
    }

    private void setPlaces(Node node, List<Node.Place> now) {
        // ORDER: the new parent counts its child before the old one lets go, in case they are the same.
        for (Node.Place place : now) {
            Node parent = place.parent();
            parent.children++;
            unlist(parent);
        }
        for (Node.Place place : node.places()) {
            Node parent = place.parent();
            parent.children--;
            touch(parent);
        }
        node.setPlaces(now);
    }

    private void touch(Node node) {
        unlist(node);
        if (node.children > 0 || nodes.get(node.inode) != node) {
            return;
        }
        node.older = newest;
        node.newer = null;
        if (newest == null) {
            oldest = node;
        } else {
            newest.newer = node;
        }
        newest = node;
        node.listed = true;
    }

    private void unlist(Node node) {
        if (!node.listed) {
            return;
        }
        if (node.older == null) {
            oldest = node.newer;
        } else {
            node.older.newer = node.newer;
        }
        if (node.newer == null) {
            newest = node.older;
        } else {
            node.newer.older = node.older;
        }
        node.older = null;
        node.newer = null;
        node.listed = false;
    }

    private void evict(Node kept) {
        while (nodes.size() > capacity && oldest != null && oldest != kept) {
            forget(oldest);
        }
    }
}
