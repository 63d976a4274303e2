// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.frwr;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rpcrdma4j.testkit.sim.SimulationOptions;
import org.rpcrdma4j.verbs.DeviceAttributes;

/** The sums of queue depths, segments and header lengths. The tables are those of the reference for 1 MiB payloads and 4 KiB pages. */
class DepthArithmeticTest {

    private static final long MEBIBYTE = 1 << 20;
    private static final int PAGES_OF_A_MEBIBYTE = 257;
    private static final int BACKCHANNEL = 32;
    private static final int INLINE = 4096;

    private static DeviceAttributes device(int pages, int maxWorkRequests) {
        return SimulationOptions.DEFAULT
                .withFastRegistration(pages, false, true)
                .withLimits(16, 1, maxWorkRequests, 8192)
                .attributes();
    }

    private static SendQueuePlan plan(int requests, int pages, int maxWorkRequests) {
        return SendQueuePlan.of(device(pages, maxWorkRequests), requests, MEBIBYTE, BACKCHANNEL, 0);
    }

    private static SendQueuePlan.Supported supported(SendQueuePlan plan) {
        assertThat(plan).isInstanceOf(SendQueuePlan.Supported.class);
        return (SendQueuePlan.Supported) plan;
    }

    @Test
    void aPayloadMayBeginAnywhereInAPage() {
        assertThat(DepthArithmetic.pagesOf(MEBIBYTE, 4096)).isEqualTo(PAGES_OF_A_MEBIBYTE);
        assertThat(DepthArithmetic.pagesOf(MEBIBYTE, 65_536)).isEqualTo(17);
        for (int bytes = 1; bytes <= 3 * 4096; bytes++) {
            int worst = 0;
            for (int begin = 0; begin < 4096; begin += 4095) {
                worst = Math.max(worst, (begin + bytes - 1) / 4096 + 1);
            }
            assertThat(DepthArithmetic.pagesOf(bytes, 4096))
                    .as("%d bytes", bytes)
                    .isEqualTo(worst);
        }
    }

    @ParameterizedTest
    @CsvSource({"1,519", "8,71", "16,39", "17,37", "32,23", "64,15", "128,11", "256,9", "257,7"})
    void oneRequestTakesSevenWorkRequestsAndTwoForEachFurtherRegion(int pages, int workRequests) {
        assertThat(DepthArithmetic.workRequestsPerRequest(PAGES_OF_A_MEBIBYTE, pages))
                .isEqualTo(workRequests);
    }

    @ParameterizedTest
    @CsvSource({"256,7", "128,9", "64,13", "32,21", "16,37", "8,69", "1,517"})
    void aPayloadOfWholePagesTakesOneRegionLess(int pages, int workRequests) {
        assertThat(DepthArithmetic.workRequestsPerRequest(256, pages)).isEqualTo(workRequests);
    }

    @ParameterizedTest
    @CsvSource({
        "17,16,3660,3804",
        "32,11,3780,3884",
        "64,7,3876,3948",
        "128,5,3924,3980",
        "256,4,3948,3996",
        "257,3,3972,4012",
        "511,3,3972,4012"
    })
    void segmentsAndHeadersAreThoseOfTheTable(int pages, int segments, int inlineCall, int inlineReply) {
        SendQueuePlan.Supported plan = supported(plan(8, pages, 32_768));
        assertThat(plan.maxSegments()).isEqualTo(segments);
        assertThat(INLINE - plan.maxCallHeaderBytes()).isEqualTo(inlineCall);
        assertThat(INLINE - plan.maxReplyHeaderBytes()).isEqualTo(inlineReply);
    }

    @ParameterizedTest
    @CsvSource({"1", "8", "16"})
    void aDeviceWhoseRegionsCannotHoldThePayloadIsRefusedWithTheNumbers(int pages) {
        assertThat(plan(8, pages, 32_768))
                .isEqualTo(new SendQueuePlan.Unsupported(
                        "a payload of 1048576 bytes takes up to 260 pages with its surroundings, but 16 segments of "
                                + pages + " pages are less"));
    }

    @ParameterizedTest
    @CsvSource({
        "32,256,32768,32,321,72",
        "32,511,16351,32,257,72",
        "128,256,32768,128,1185,168",
    })
    void queuesAreAsInTheTable(int wanted, int pages, int limit, int requests, int sendDepth, int receiveDepth) {
        SendQueuePlan.Supported plan = supported(plan(wanted, pages, limit));
        assertThat(plan.requests()).isEqualTo(requests);
        assertThat(plan.sendDepth()).isEqualTo(sendDepth);
        assertThat(plan.receiveDepth()).isEqualTo(receiveDepth);
    }

    /** Rows of the table whose devices are refused for another reason: the sum alone. */
    @ParameterizedTest
    @CsvSource({"128,39,4096,104,4089", "32,39,1024,25,1008", "32,39,64,0,33", "32,519,512,0,33"})
    void aClampTakesRequestsAndNeverThePlacesSetApart(int wanted, int factor, int limit, int requests, int sendDepth) {
        int apart = BACKCHANNEL + SendQueuePlan.DRAIN_PLACES;
        int fitting = DepthArithmetic.requestsThatFit(wanted, factor, apart, limit);
        assertThat(fitting).isEqualTo(requests);
        assertThat(fitting * factor + apart).isEqualTo(sendDepth);
    }

    @Test
    void atEveryDeviceLimitBackchannelAndDrainKeepTheirPlaces() {
        for (int limit = 1; limit <= 2000; limit++) {
            if (plan(128, 64, limit) instanceof SendQueuePlan.Supported plan) {
                int forRequests = plan.requests() * plan.workRequestsPerRequest();
                assertThat(plan.sendDepth())
                        .isEqualTo(forRequests + BACKCHANNEL + 1)
                        .isLessThanOrEqualTo(limit);
                assertThat(plan.receiveDepth())
                        .isEqualTo(plan.requests() + BACKCHANNEL + 8)
                        .isLessThanOrEqualTo(limit);
                assertThat(plan.requests()).isBetween(1, 128);
                boolean oneMoreFits = forRequests + plan.workRequestsPerRequest() + BACKCHANNEL + 1 <= limit;
                assertThat(plan.requests() < 128 && oneMoreFits)
                        .as("limit %d", limit)
                        .isFalse();
            } else {
                assertThat(limit).isLessThan(15 + BACKCHANNEL + 1);
            }
        }
    }

    @Test
    void allRequestsFitTheCompletionQueueToo() {
        DeviceAttributes a = device(256, 32_768);
        DeviceAttributes small = new DeviceAttributes(
                16, 32_768, 16, 1, 500, 8192, true, 256, 4096, false, true, 16, 16, false, 1 << 20, 100);
        SendQueuePlan.Supported plan = supported(SendQueuePlan.of(small, 128, MEBIBYTE, BACKCHANNEL, 0));
        assertThat(plan.sendDepth() + plan.receiveDepth()).isLessThanOrEqualTo(500);
        assertThat(plan.requests()).isEqualTo((500 - 33 - 40) / 10);
        assertThat(a.maxCompletions()).isGreaterThan(500);
    }

    @Test
    void everyHeaderOfARequestFitsTheLargestForAllPageListLengths() {
        for (int pages = 1; pages <= 512; pages++) {
            if (plan(8, pages, 32_768) instanceof SendQueuePlan.Supported plan) {
                checkHeaders(plan);
                assertThat(plan.maxSegments() * plan.pagesPerRegion())
                        .as("pages of all segments, with %d each", pages)
                        .isGreaterThanOrEqualTo(PAGES_OF_A_MEBIBYTE + DepthArithmetic.EXTRA_PAGES);
            } else {
                assertThat(pages).isLessThan(17);
            }
        }
    }

    private static void checkHeaders(SendQueuePlan.Supported plan) {
        int limit = plan.maxSegments();
        for (int read = 0; read <= limit; read++) {
            for (int write = 0; read + write <= limit; write++) {
                for (int reply = 0; read + write + reply <= limit; reply++) {
                    assertThat(plan.callHeaderBytes(read, write, reply)).isLessThanOrEqualTo(plan.maxCallHeaderBytes());
                }
                assertThat(plan.replyHeaderBytes(write, 0)).isLessThanOrEqualTo(plan.maxReplyHeaderBytes());
                assertThat(plan.replyHeaderBytes(0, write)).isLessThanOrEqualTo(plan.maxReplyHeaderBytes());
            }
        }
        assertThat(2 * limit + 1)
                .as("work requests of the most regions")
                .isLessThanOrEqualTo(plan.workRequestsPerRequest());
    }

    @Test
    void theLargestPayloadFitsTheRegionsOfARequestWhereverItBegins() {
        for (int pages = 1; pages <= 300; pages++) {
            if (plan(8, pages, 32_768) instanceof SendQueuePlan.Supported plan) {
                assertThat(plan.maxPayloadBytes()).isEqualTo(MEBIBYTE + 1);
                assertThat((long) plan.regionsPerPayload() * plan.pagesPerRegion() * plan.pageBytes())
                        .isGreaterThanOrEqualTo(plan.maxPayloadBytes() + plan.pageBytes() - 1);
                assertThat(plan.regionsPerPayload()).isLessThanOrEqualTo(plan.maxSegments());
            }
        }
    }

    @Test
    void anOddPayloadFitsToo() {
        for (long bytes : new long[] {1, 1000, 4095, 4096, 4097, 100_001}) {
            SendQueuePlan.Supported plan = supported(SendQueuePlan.of(device(257, 4096), 8, bytes, BACKCHANNEL, 0));
            assertThat(plan.maxPayloadBytes()).isGreaterThanOrEqualTo(bytes);
        }
    }

    @Test
    void aDeviceWithoutFastRegistrationIsRefused() {
        DeviceAttributes none = new DeviceAttributes(
                16, 4096, 16, 1, 4096, 8192, false, 257, 4096, true, true, 16, 16, false, 1 << 20, 100);
        assertThat(SendQueuePlan.of(none, 8, MEBIBYTE, BACKCHANNEL, 0))
                .isEqualTo(new SendQueuePlan.Unsupported("the device has no fast registration work requests"));
        DeviceAttributes zero = new DeviceAttributes(
                16, 4096, 16, 1, 4096, 8192, true, 0, 4096, true, true, 16, 16, false, 1 << 20, 100);
        assertThat(SendQueuePlan.of(zero, 8, MEBIBYTE, BACKCHANNEL, 0))
                .isEqualTo(new SendQueuePlan.Unsupported("the device's longest page list for fast registration is 0"));
    }

    @Test
    void aQueueTooShortForOneRequestIsRefused() {
        assertThat(plan(8, 256, 41)).isInstanceOf(SendQueuePlan.Unsupported.class);
        assertThat(supported(plan(8, 256, 42)).requests()).isEqualTo(1);
    }

    @Test
    void aDeviceWithTooFewRegionsForOneRequestIsRefused() {
        DeviceAttributes few =
                SimulationOptions.DEFAULT.withLimits(16, 1, 4096, 2).attributes();
        assertThat(SendQueuePlan.of(few, 8, MEBIBYTE, BACKCHANNEL, 0)).isInstanceOf(SendQueuePlan.Unsupported.class);
    }

    @Test
    void theDepthOfARegionCanBeLimited() {
        SendQueuePlan.Supported plan = supported(SendQueuePlan.of(device(257, 32_768), 8, MEBIBYTE, BACKCHANNEL, 32));
        assertThat(plan.pagesPerRegion()).isEqualTo(32);
        assertThat(plan.workRequestsPerRequest()).isEqualTo(23);
    }

    @Test
    void nonsenseIsRefusedByName() {
        assertThatThrownBy(() -> SendQueuePlan.of(device(257, 4096), 0, MEBIBYTE, BACKCHANNEL, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("requests 0");
    }
}
