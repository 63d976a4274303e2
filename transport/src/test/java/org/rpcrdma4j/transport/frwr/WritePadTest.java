// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.rpcrdma4j.testkit.sim.FaultPlan;
import org.rpcrdma4j.transport.connection.DisconnectCause;
import org.rpcrdma4j.transport.event.ClientCounter;
import org.rpcrdma4j.transport.raw.Network;
import org.rpcrdma4j.transport.raw.RawWork;
import org.rpcrdma4j.transport.raw.Segment;
import org.rpcrdma4j.verbs.PostResult.Reason;
import org.rpcrdma4j.verbs.WorkCompletion;

/** F22: the four bytes behind odd Write chunks, for peers that insist. */
@ParameterizedClass
@EnumSource(Network.class)
class WritePadTest {

    private final Scene scene;
    private final Caller caller;
    private final List<String> told = new ArrayList<>();

    WritePadTest(Network network) {
        scene = new Scene(network);
        caller = scene.caller;
    }

    @AfterEach
    void giveBack() {
        scene.close();
    }

    private WritePad register() {
        WritePad[] pad = new WritePad[1];
        caller.monitor.run(() -> pad[0] = caller.registrar.registerWritePad(new WritePad.Listener() {
            @Override
            public void onReady() {
                told.add("ready");
            }

            @Override
            public void onFailed(String reason) {
                told.add("failed: " + reason);
            }
        }));
        return pad[0];
    }

    @Test
    void itIsRegisteredOnceForAllCalls() {
        caller.connected(0);
        WritePad pad = register();
        scene.await("pad", () -> !told.isEmpty());
        assertThat(told).containsExactly("ready");
        scene.peerWritesAndAnswers();
        for (int xid = 1; xid <= 5; xid++) {
            RawWork written = caller.peer().write(new Segment(pad.handle(), 4, pad.offset()), (byte) 1, (byte) 2);
            TestCall call = scene.send(xid, 1);
            scene.await("call", call::isOver);
            scene.rig.await("the peer's word of it", written::isDone);
        }
        assertThat(caller.disconnects).isZero();
        assertThat(caller.count(ClientCounter.REGISTRATIONS)).isEqualTo(1 + 5);
        assertThatThrownBy(this::register).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void withoutRegionsForItItFails() {
        caller.connected(0);
        scene.faults.refuseNext(FaultPlan.Resource.MAP, 1);
        register();
        scene.await("pad", () -> !told.isEmpty());
        assertThat(told.getFirst()).startsWith("failed: the device has no resources");
    }

    @Test
    void aPostThatIsRefusedFailsIt() {
        caller.connected(4);
        scene.faults.cutNextPost(1, 0, Reason.NO_RESOURCES);
        register();
        scene.await("pad", () -> !told.isEmpty());
        assertThat(told).containsExactly("failed: injected fault");
    }

    @Test
    void aRegistrationThatFailsFailsIt() {
        caller.connected(4);
        scene.faults.failNext(WorkCompletion.Operation.REGISTER);
        register();
        scene.await("pad", () -> !told.isEmpty());
        assertThat(told).hasSize(1);
        assertThat(told.getFirst()).startsWith("failed: ");
    }

    @Test
    void aConnectionThatEndsBeforeFailsIt() {
        caller.connected(0);
        caller.monitor.run(() -> {
            register();
            caller.endpoint.abort(DisconnectCause.LOCAL_CLOSE, "test");
        });
        caller.awaitClosed();
        assertThat(told).containsExactly("failed: the connection is ending");
    }
}
