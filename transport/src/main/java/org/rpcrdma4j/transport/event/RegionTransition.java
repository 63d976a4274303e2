// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

/** What has just happened to a region. */
public enum RegionTransition {
    /** It was given its memory; nothing is opened by that. */
    MAPPED,
    /** Its registration was handed to the send queue: from now on the peer may have access. */
    REGISTERING,
    /** Its registration is known to have been executed. */
    REGISTERED,
    /** Its local invalidation was handed to the send queue. */
    INVALIDATING,
    /** Its local invalidation has completed. */
    INVALIDATED,
    /** The peer has invalidated it. */
    REMOTELY_INVALIDATED,
    /** It has no memory any more and can be used again. */
    FREE,
    /** Its registration state is not known any more; recovery has it. */
    RECOVERING,
    /** It is closed. */
    GONE,
    /** It could not be closed; it is kept and never used again. */
    ORPHANED
}
