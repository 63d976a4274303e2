// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Makes values of any of the protocol's types, from their declarations. */
final class RandomRecords {

    private final Random random;
    /** Whether longs stay below 2^32: some are unsigned ints on the wire. */
    private boolean small;

    RandomRecords(Random random) {
        this.random = random;
    }

    /** A value that its own constructors take and that can be written. */
    <T> T next(Class<T> type) {
        small = random.nextBoolean();
        return type.cast(value(type));
    }

    <T> T nextSmall(Class<T> type) {
        small = true;
        return type.cast(value(type));
    }

    private Object value(Class<?> type) {
        if (type == int.class || type == Integer.class) {
            return random.nextInt();
        } else if (type == long.class || type == Long.class) {
            return small ? random.nextLong(1L << 32) : random.nextLong();
        } else if (type == boolean.class) {
            return random.nextBoolean();
        } else if (type == FileHandle.class) {
            return FileHandle.of(bytes(1 + random.nextInt(64)));
        } else if (type == FileName.class) {
            return FileName.of(bytes(random.nextInt(300)));
        } else if (type == PathBytes.class) {
            return PathBytes.of(bytes(random.nextInt(300)));
        } else if (type == String.class) {
            return "host" + random.nextInt();
        } else if (type == MemorySegment.class) {
            return MemorySegment.ofArray(bytes(random.nextInt(50)));
        } else if (type == Read.Ok.class) {
            return Read.Ok.of(null, random.nextBoolean(), MemorySegment.ofArray(bytes(random.nextInt(50))));
        } else if (type.isEnum()) {
            Object[] constants = type.getEnumConstants();
            return constants[random.nextInt(constants.length)];
        } else if (type.isSealed()) {
            Class<?>[] permitted = type.getPermittedSubclasses();
            return value(permitted[random.nextInt(permitted.length)]);
        }
        return record(type);
    }

    private Object record(Class<?> type) {
        RecordComponent[] components = type.getRecordComponents();
        while (true) {
            Object[] values = new Object[components.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = component(components[i]);
            }
            try {
                Class<?>[] types =
                        Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
                Constructor<?> constructor = type.getDeclaredConstructor(types);
                return constructor.newInstance(values);
            } catch (InvocationTargetException e) {
                if (!(e.getCause() instanceof IllegalArgumentException)) {
                    throw new AssertionError(e.getCause());
                }
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(type.toString(), e);
            }
        }
    }

    private @Nullable Object component(RecordComponent component) {
        AnnotatedType annotated = component.getAnnotatedType();
        if (annotated.isAnnotationPresent(Nullable.class) && random.nextBoolean()) {
            return null;
        }
        Type generic = component.getGenericType();
        if (generic instanceof ParameterizedType list) {
            List<Object> values = new ArrayList<>();
            for (int i = random.nextInt(4); i > 0; i--) {
                values.add(value((Class<?>) list.getActualTypeArguments()[0]));
            }
            return values;
        }
        return value(component.getType());
    }

    byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
