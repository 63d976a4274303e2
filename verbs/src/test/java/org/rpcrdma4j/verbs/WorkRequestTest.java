// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;

class WorkRequestTest {
    private static final MemoryRegion REGION = new MemoryRegion() {
        @Override
        public ProtectionDomain protectionDomain() {
            throw new AssertionError("not asked for");
        }

        @Override
        public int remoteKey() {
            return 0x100;
        }

        @Override
        public long remoteAddress() {
            return 0;
        }

        @Override
        public long length() {
            return 100;
        }

        @Override
        public Access access() {
            return Access.LOCAL_READ;
        }

        @Override
        public boolean isValid() {
            return true;
        }

        @Override
        public void close() {}
    };

    @Test
    void aListIsFilledAgainAfterItWasEmptied() {
        SendRequest send = new SendRequest();
        for (int i = 0; i < 10; i++) {
            send.sge(REGION, i, 2L * i);
        }
        assertThat(send.sges().size()).isEqualTo(10);
        assertThat(send.sges().totalBytes()).isEqualTo(90);
        assertThat(send.sges().offset(9)).isEqualTo(9);
        assertThat(send.sges().length(9)).isEqualTo(18);
        send.clearSges().sge(REGION, 5, 7);
        assertThat(send.sges().size()).isEqualTo(1);
        assertThat(send.sges().totalBytes()).isEqualTo(7);
        assertThat(send.sges().region(0)).isSameAs(REGION);
    }

    @Test
    void refusesPiecesThatNoMessageCanHave() {
        RdmaWriteRequest write = new RdmaWriteRequest();
        assertThatIllegalArgumentException().isThrownBy(() -> write.sge(REGION, -1, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> write.sge(REGION, 0, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> write.sge(REGION, 0, 1L << 32));
        write.sge(REGION, 0, (1L << 32) - 1);
        assertThat(write.sges().totalBytes()).isEqualTo((1L << 32) - 1);
    }

    @Test
    void keepsTheTypeWhileCallsAreChained() {
        RdmaWriteRequest write =
                new RdmaWriteRequest().id(7).signaled(false).fence(true).target(1, -1);
        RdmaReadRequest read = new RdmaReadRequest().id(8).sge(REGION, 0, 1).source(2, 3);
        assertThat(write.id()).isEqualTo(7);
        assertThat(write.signaled()).isFalse();
        assertThat(write.fence()).isTrue();
        assertThat(write.remoteAddress()).isEqualTo(-1);
        assertThat(read.remoteKey()).isEqualTo(2);
        assertThat(read.operation()).isEqualTo(WorkCompletion.Operation.RDMA_READ);
    }

    @Test
    void remoteWriteNeedsLocalWrite() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Access(false, false, true));
    }

    @Test
    void aRefusedPostSaysWhichRequestAndWhy() {
        PostResult refused = new PostResult.Refused(3, PostResult.Reason.QUEUE_FULL, "all 8 places are taken");
        assertThat(refused.isPosted()).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(refused::orThrow)
                .withMessage("work request 3 refused: QUEUE_FULL, all 8 places are taken");
        PostResult.posted().orThrow();
        assertThat(PostResult.posted()).isSameAs(PostResult.posted());
    }

    @Test
    void aCompletionForgetsTheInvalidationOfItsLastUse() {
        WorkCompletion completion = new WorkCompletion();
        completion.set(1, WorkCompletion.Status.SUCCESS, WorkCompletion.Operation.RECEIVE, 2, 3);
        completion.setInvalidated(0x1234);
        assertThat(completion).hasToString("RECEIVE id 1 on QP 2: success, 3 bytes, invalidated 0x1234");
        completion.set(4, WorkCompletion.Status.FLUSHED, WorkCompletion.Operation.SEND, 2, 0);
        assertThat(completion.isWithInvalidate()).isFalse();
        assertThat(completion).hasToString("SEND id 4 on QP 2: work request flushed");
    }
}
