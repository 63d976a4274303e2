// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.verbs.cm.ConnectRefusal;
import org.rpcrdma4j.verbs.cm.ConnectionInfo;
import org.rpcrdma4j.verbs.cm.ConnectionListener;
import org.rpcrdma4j.verbs.cm.Disconnect;

/** Remembers what a connection's listener was told, in order. Written by the device's threads, read by the test's. */
final class EventLog implements ConnectionListener {

    private final List<Object> events = new CopyOnWriteArrayList<>();

    @Override
    public void onEstablished(ConnectionInfo info) {
        events.add(info);
    }

    @Override
    public void onRefused(ConnectRefusal refusal) {
        events.add(refusal);
    }

    @Override
    public void onDisconnected(Disconnect disconnect) {
        events.add(disconnect);
    }

    List<Object> all() {
        return events;
    }

    boolean isEstablished() {
        return first(ConnectionInfo.class) != null;
    }

    boolean hasEnded() {
        return first(Disconnect.class) != null || first(ConnectRefusal.class) != null;
    }

    ConnectionInfo established() {
        return required(ConnectionInfo.class);
    }

    ConnectRefusal refused() {
        return required(ConnectRefusal.class);
    }

    Disconnect disconnected() {
        return required(Disconnect.class);
    }

    private <T> T required(Class<T> type) {
        T found = first(type);
        if (found == null) {
            throw new AssertionError("no " + type.getSimpleName() + " among " + events);
        }
        return found;
    }

    private <T> @Nullable T first(Class<T> type) {
        for (Object event : events) {
            if (type.isInstance(event)) {
                return type.cast(event);
            }
        }
        return null;
    }
}
