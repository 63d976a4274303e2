// SPDX-License-Identifier: Apache-2.0
/**
 * Opening callers' memory to the peer for the time of one call, by fast-registration work requests (FRWR), and shutting it again before
 * the caller gets it back. {@link org.rpcrdma4j.transport.frwr.Registrar} is the way in; {@link
 * org.rpcrdma4j.transport.frwr.SendQueuePlan} says beforehand whether a device will do.
 *
 * <h2>Normal operation</h2>
 *
 * <p>A region is made once and used for one call after another; making and giving back cost the device much, registering and
 * invalidating little. One call goes like this:
 *
 * <ol>
 *   <li><b>map</b>, while the call is marshalled: free regions get the memory of a chunk, as few as its page lists and the device's
 *       rules allow, and each a new key. Key, offset and length go into the chunk's segments. Nothing has been posted, so a call that
 *       cannot be marshalled after all costs nothing and leaves nothing behind.
 *   <li><b>register and send</b>, in one chain: registrations, unsignaled, and the Send, signaled, behind them. The send queue is
 *       worked off in order, so the regions are open when the peer sees the message; nobody waits for a registration. A region is open
 *       to one queue pair, for reading or for writing, never both.
 *   <li><b>reply</b>. A peer that uses Send with Invalidate has shut one region with it. That is so when the message is received, and
 *       that region needs no work request.
 *   <li><b>invalidate</b>: the others are shut by one chain of invalidations, each signaled. When one completes, the device guarantees
 *       that no access is running and none can begin, and its memory is unmapped. With the last one the {@link
 *       org.rpcrdma4j.transport.frwr.Fence} is told; not before may the call end (RFC 8166, Section 4.4.1). Nobody waits for this
 *       on a thread.
 * </ol>
 *
 * <p>A call that is given up without a reply goes from step 2 straight to step 4. Its memory is as safe as any other's then: a late
 * RDMA Write of the peer finds the region shut.
 *
 * <h2>States and owners</h2>
 *
 * <p>Two things are kept of each {@link org.rpcrdma4j.transport.frwr.Region}: what is known of its registration, and who has it.
 *
 * <pre>
 *   custody    FREE --map--> MAPPING --append--> REGISTERED --shut, unmapped--> FREE
 *               ^               |                    |
 *               +--- unmap -----+                    +-- no work request can shut it --> RECOVERY --+-- new handle --> FREE
 *                                                                                                   +-- none any more,
 *   state      INVALID --append--> VALID --invalidation completed, or by the peer--> INVALID             orphan ------> GONE
 *                                    |
 *                                    +-- a work request failed or was flushed --> STALE
 * </pre>
 *
 * <table>
 *   <caption>Who has a region, and who repairs it</caption>
 *   <tr><th>custody</th><th>state</th><th>owner</th><th>leaves it how; repaired by</th></tr>
 *   <tr><td>FREE</td><td>INVALID</td><td>pool, or the cache of a list</td><td>taken by map. Nothing can be wrong with it</td></tr>
 *   <tr><td>MAPPING</td><td>INVALID</td><td>a list</td><td>registered or unmapped. A map that fails leaves it FREE: nothing was opened,
 *     so nothing is repaired</td></tr>
 *   <tr><td>REGISTERED</td><td>VALID</td><td>a list</td><td>the completion of its invalidation, or the peer. If the invalidation cannot be
 *     posted on a connection that is well: recovery. If the send queue is full: posted again after the next completion</td></tr>
 *   <tr><td>REGISTERED</td><td>INVALID</td><td>a list</td><td>shut by the peer, waits to be unmapped with the others</td></tr>
 *   <tr><td>REGISTERED</td><td>STALE</td><td>a list</td><td>the queue pair is in error, so the connection ends; its end deregisters.
 *     For a call that is given up: recovery, without waiting for that end</td></tr>
 *   <tr><td>RECOVERY</td><td>STALE</td><td>the recovery worker</td><td>deregistered, which shuts it, and given a new handle; the fence is told</td></tr>
 *   <tr><td>GONE</td><td>any</td><td>nobody</td><td>given back; or an orphan, which the device did not take back: counted, kept, tried once
 *     more at the end. Its fence waits for the queue pair to be closed</td></tr>
 * </table>
 *
 * <p>The state follows completions, not posts: INVALID means that the device has shut the region. Each use of a region has a number,
 * its generation, which is in the id of its work requests, so a completion that comes late is never taken for that of the next use; and
 * kind and generation say which of the two work requests of the use has ended.
 *
 * <h2>When the connection fails</h2>
 *
 * <p>A failed or flushed work request puts the queue pair into error, and what it was about to do may be done or not. So regions do not
 * outlive their connection: nothing is repaired across it. The order of its end is what makes memory safe again:
 *
 * <ol>
 *   <li>{@link org.rpcrdma4j.transport.frwr.Registrar#connectionEnding}: nothing is posted, mapped or created any more.
 *   <li>The queues are drained, and completions that still come tell some fences.
 *   <li>The queue pair is closed. Regions are open to this queue pair only, so all are shut now, in whatever state they are.
 *   <li>{@link org.rpcrdma4j.transport.frwr.Registrar#releaseAll}: every region is deregistered, which ends the lease on its memory. Then
 *       each fence that still waits is told that the connection was lost, and its call is sent again on the next connection, or fails.
 * </ol>
 *
 * <p>The next connection begins with regions of its own. Thus every call ends, with all of its memory shut, by one of two ways: its
 * invalidations, or the end of the connection, which has a time limit.
 *
 * <h2>Want of regions</h2>
 *
 * <p>A map that finds no region gives back what it had and waits in a row; regions are created in batches on the worker, and whoever waits
 * is woken in turn. The {@linkplain org.rpcrdma4j.transport.frwr.RegionPool pool} tells more.
 *
 * <h2>Threads</h2>
 *
 * <p>All state is touched inside the connection's monitor, and nothing in here waits inside. What may take long, creating and
 * deregistering, is done by {@code DeviceRegions} on the worker.
 */
package org.rpcrdma4j.transport.frwr;
