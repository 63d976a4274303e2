// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.testkit.contract;

import org.junit.jupiter.api.Nested;

/**
 * Everything the verbs ask of a device. A module with a device extends this class in its tests and says how to open one:
 *
 * <pre>
 *   class IwarpContractTest extends DeviceContract {
 *       &#64;Override
 *       protected DeviceUnderTest open() {
 *           return new PolledDevices(new IwarpDevice(...), new IwarpDevice(...));
 *       }
 *   }
 * </pre>
 *
 * The parts are the nested classes, one for each theme.
 */
public abstract class DeviceContract {

    /** For subclasses. */
    protected DeviceContract() {}

    /** Opens devices for one test; called once for each. */
    protected abstract DeviceUnderTest open() throws Exception;

    @Nested
    final class Registration extends RegistrationContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class SendReceive extends SendReceiveContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class WriteRead extends WriteReadContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class RemoteAccess extends RemoteAccessContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class Ordering extends OrderingContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class Completions extends CompletionsContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class Invalidation extends InvalidationContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class Errors extends ErrorsContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class Connection extends ConnectionContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class Lifecycle extends LifecycleContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class Limits extends LimitsContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class Chain extends ChainContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }

    @Nested
    final class OperationMix extends OperationMixContract {
        @Override
        protected DeviceUnderTest open() throws Exception {
            return DeviceContract.this.open();
        }
    }
}
