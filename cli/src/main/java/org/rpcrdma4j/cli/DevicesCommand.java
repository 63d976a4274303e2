// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli;

import java.io.PrintWriter;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.rpcrdma4j.verbs.DeviceAttributes;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;
import org.rpcrdma4j.verbs.spi.RdmaProvider;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Lists the providers and what their devices can do. */
@Command(name = "devices", description = "Lists the RDMA providers that this process can use, and their limits.")
final class DevicesCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @SuppressWarnings("NullAway.Init") // picocli sets the annotated fields
    DevicesCommand() {}

    @Override
    public Integer call() {
        List<Map<String, Object>> found = new ArrayList<>();
        for (RdmaProvider provider : RdmaDevices.providers()) {
            found.add(describe(provider));
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(JsonText.of(found));
        } else if (found.isEmpty()) {
            out.println("no RDMA provider is on the module path");
        } else {
            found.forEach(provider -> print(out, provider));
        }
        return 0;
    }

    private static Map<String, Object> describe(RdmaProvider provider) {
        Map<String, Object> facts = new LinkedHashMap<>();
        facts.put("provider", provider.name());
        facts.put("description", provider.description());
        String missing = provider.unavailable().orElse("");
        facts.put("available", missing.isEmpty());
        if (!missing.isEmpty()) {
            facts.put("missing", missing);
            return facts;
        }
        try (RdmaDevice device = provider.open(Map.of())) {
            facts.put("device", device.name());
            facts.put("attributes", attributes(device.attributes()));
        }
        return facts;
    }

    private static Map<String, Object> attributes(DeviceAttributes attributes) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (RecordComponent component : DeviceAttributes.class.getRecordComponents()) {
            try {
                values.put(component.getName(), component.getAccessor().invoke(attributes));
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException("attribute " + component.getName() + " of the device", e);
            }
        }
        return values;
    }

    private static void print(PrintWriter out, Map<String, Object> provider) {
        out.printf("%s: %s%n", provider.get("provider"), provider.get("description"));
        if (provider.get("missing") != null) {
            out.printf("  not available: %s%n", provider.get("missing"));
            return;
        }
        out.printf("  %-32s %s%n", "device", provider.get("device"));
        if (provider.get("attributes") instanceof Map<?, ?> attributes) {
            attributes.forEach(
                    (name, value) -> out.printf("  %-32s %s%n", words(String.valueOf(name)), inWords(value)));
        }
    }

    private static Object inWords(Object value) {
        return value instanceof Boolean flag ? (flag ? "yes" : "no") : value;
    }

    private static String words(String name) {
        return name.replaceAll("([A-Z])", " $1").toLowerCase(Locale.ROOT);
    }
}
