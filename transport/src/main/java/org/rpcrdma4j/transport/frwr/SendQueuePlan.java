// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import org.rpcrdma4j.verbs.DeviceAttributes;

/**
 * Whether a device can do fast registration work requests for us, and if so how large regions, queues and headers are. Decided once
 * before a connection is made.
 *
 * <p>The send queue has a place for every work request that all requests at a time can need, and, set aside from those, for the
 * answers to calls of the server and for the drain. So a post is never refused for want of a place, and nobody has to ask for one.
 */
public sealed interface SendQueuePlan {

    /**
     * The device will do.
     *
     * @param pageBytes the device's page
     * @param pagesPerRegion longest page list of one region
     * @param regionsPerPayload regions that the largest payload takes
     * @param maxSegments most segments of one request, all chunks together
     * @param requests how many requests at a time: as wanted, or as many as the queues have room for
     * @param backchannelRequests how many calls of the server at a time
     * @param workRequestsPerRequest most places of the send queue that one request takes
     * @param sendDepth places of the send queue
     * @param receiveDepth places of the receive queue
     * @param maxPayloadBytes largest payload that one request can describe, wherever it begins
     * @param maxRegions most regions of the connection
     * @param maxCallHeaderBytes largest header of a call
     * @param maxReplyHeaderBytes largest header of a reply with one Write chunk or a Reply chunk; {@link #replyHeaderBytes} has both
     */
    record Supported(
            int pageBytes,
            int pagesPerRegion,
            int regionsPerPayload,
            int maxSegments,
            int requests,
            int backchannelRequests,
            int workRequestsPerRequest,
            int sendDepth,
            int receiveDepth,
            long maxPayloadBytes,
            int maxRegions,
            int maxCallHeaderBytes,
            int maxReplyHeaderBytes)
            implements SendQueuePlan {

        /** The length of a call's header with so many segments in its Read list, Write chunk and Reply chunk. */
        public int callHeaderBytes(int readSegments, int writeSegments, int replySegments) {
            return DepthArithmetic.headerBytes(readSegments, writeSegments, replySegments);
        }

        /** The length of a reply's header with so many segments in its Write chunk and Reply chunk. */
        public int replyHeaderBytes(int writeSegments, int replySegments) {
            return DepthArithmetic.headerBytes(0, writeSegments, replySegments);
        }
    }

    /**
     * The device will not do.
     *
     * @param reason in a sentence, with the numbers
     */
    record Unsupported(String reason) implements SendQueuePlan {}

    /** The drain's place in the send queue, and in the receive queue. */
    int DRAIN_PLACES = 1;

    /** One region may be registered for the whole life of the connection, see {@link WritePad}. */
    int PAD_REGIONS = 1;

    /** Receives that are posted ahead, so that reposting can be done in batches. */
    int RECEIVE_BATCH = 7;

    /**
     * Makes the plan.
     *
     * @param wantedRequests calls at a time
     * @param maxPayloadBytes largest payload
     * @param backchannelRequests calls of the server at a time
     * @param depthLimit most pages of one region, for devices that are slow with long page lists; 0 for the device's own limit
     */
    static SendQueuePlan of(
            DeviceAttributes device,
            int wantedRequests,
            long maxPayloadBytes,
            int backchannelRequests,
            int depthLimit) {
        if (wantedRequests < 1 || maxPayloadBytes < 1 || backchannelRequests < 0 || depthLimit < 0) {
            throw new IllegalArgumentException("requests " + wantedRequests + ", payload " + maxPayloadBytes
                    + ", backchannel requests " + backchannelRequests + ", depth limit " + depthLimit);
        }
        if (!device.memoryManagementExtensions()) {
            return new Unsupported("the device has no fast registration work requests");
        }
        if (device.maxFastRegistrationPages() < 1) {
            return new Unsupported("the device's longest page list for fast registration is 0");
        }
        long maxPages = DepthArithmetic.pagesOf(maxPayloadBytes, device.pageBytes());
        long pagesPerRegion = Math.min(maxPages, device.maxFastRegistrationPages());
        if (depthLimit > 0) {
            pagesPerRegion = Math.min(pagesPerRegion, depthLimit);
        }
        int depth = Math.toIntExact(pagesPerRegion);
        if (maxPages + DepthArithmetic.EXTRA_PAGES > (long) DepthArithmetic.SEGMENT_LIMIT * depth) {
            return new Unsupported("a payload of " + maxPayloadBytes + " bytes takes up to "
                    + (maxPages + DepthArithmetic.EXTRA_PAGES) + " pages with its surroundings, but "
                    + DepthArithmetic.SEGMENT_LIMIT + " segments of " + depth + " pages are less");
        }
        return fit(device, depth, maxPages, wantedRequests, backchannelRequests);
    }

    private static SendQueuePlan fit(DeviceAttributes device, int depth, long maxPages, int wanted, int backchannel) {
        int factor = DepthArithmetic.workRequestsPerRequest(maxPages, depth);
        int sendsApart = backchannel + DRAIN_PLACES;
        int receivesApart = backchannel + RECEIVE_BATCH + DRAIN_PLACES;
        int limit = device.maxWorkRequests();
        int requests = DepthArithmetic.requestsThatFit(wanted, factor, sendsApart, limit);
        requests = DepthArithmetic.requestsThatFit(requests, 1, receivesApart, limit);
        requests = DepthArithmetic.requestsThatFit(
                requests, factor + 1, sendsApart + receivesApart, device.maxCompletions());
        int segments = DepthArithmetic.segmentsPerRequest(maxPages, depth);
        if (requests < 1) {
            return new Unsupported("one request takes up to " + factor + " work requests and " + sendsApart
                    + " are set apart; the device has queues of " + limit + " and completion queues of "
                    + device.maxCompletions());
        }
        if (device.maxRegions() < segments) {
            return new Unsupported(
                    "one request takes up to " + segments + " regions; the device has " + device.maxRegions());
        }
        return new Supported(
                device.pageBytes(),
                depth,
                DepthArithmetic.regionsFor(maxPages, depth),
                segments,
                requests,
                backchannel,
                factor,
                requests * factor + sendsApart,
                requests + receivesApart,
                (maxPages - 1) * device.pageBytes() + 1,
                (int) Math.min((long) requests * segments + PAD_REGIONS, device.maxRegions()),
                DepthArithmetic.maxCallHeaderBytes(segments),
                DepthArithmetic.maxReplyHeaderBytes(segments));
    }
}
