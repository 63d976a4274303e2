// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.MemoryAddress;
import jdk.jfr.Name;
import org.jspecify.annotations.Nullable;

/** The flight recorder's events on regions at a client. XIDs, keys and ids of work requests are shown as addresses are, in hexadecimal. */
final class RegionEvents {

    private RegionEvents() {}

    @Name("rpcrdma.RegionState")
    @Label("Region State")
    @Description("A region has changed")
    static final class RegionState extends TransportEvent {
        static final RegionState PROBE = new RegionState();

        @Label("Transition")
        @Nullable
        String transition;

        @Label("Region")
        int region;

        @Label("Registration")
        int registration;

        @Label("Work Request Id")
        @MemoryAddress
        long wrId;

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Pieces")
        int pieces;

        @Label("Handle")
        @MemoryAddress
        long handle;

        @Label("Length")
        @DataAmount
        long length;

        @Label("Offset")
        @MemoryAddress
        long offset;

        @Label("Remote Write")
        boolean remoteWrite;
    }

    @Name("rpcrdma.RegionAllocFailed")
    @Label("Region Allocation Failed")
    @Description("The device did not create a region")
    static final class RegionAllocFailed extends TransportEvent {
        static final RegionAllocFailed PROBE = new RegionAllocFailed();

        @Label("Existing Regions")
        int existing;

        @Label("Detail")
        @Nullable
        String detail;
    }

    @Name("rpcrdma.RegionReleaseFailed")
    @Label("Region Release Failed")
    @Description("The device did not take a region back")
    static final class RegionReleaseFailed extends TransportEvent {
        static final RegionReleaseFailed PROBE = new RegionReleaseFailed();

        @Label("Region")
        int region;

        @Label("Detail")
        @Nullable
        String detail;
    }

    @Name("rpcrdma.RegionMapFailed")
    @Label("Region Map Failed")
    @Description("Memory could not be given to a region")
    static final class RegionMapFailed extends TransportEvent {
        static final RegionMapFailed PROBE = new RegionMapFailed();

        @Label("Region")
        int region;

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Pieces")
        int pieces;

        @Label("Mapped")
        int mapped;

        @Label("Detail")
        @Nullable
        String detail;
    }

    @Name("rpcrdma.PinFailed")
    @Label("Pin Failed")
    @Description("Memory could not be registered for a Send")
    static final class PinFailed extends TransportEvent {
        static final PinFailed PROBE = new PinFailed();

        @Label("XID")
        @MemoryAddress
        long xid;

        @Label("Length")
        @DataAmount
        long length;

        @Label("Detail")
        @Nullable
        String detail;
    }
}
