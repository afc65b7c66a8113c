package com.yahoo.search.handler;

import java.io.ByteArrayInputStream;
import java.util.Map;

/** Reads the JSON body of a query as the search handler does, whose class for it is not public. */
public final class Body {
    public static Map<String, String> parameters(byte[] json) {
        return new Json2SingleLevelMap(new ByteArrayInputStream(json)).parse();
    }

    private Body() {}
}
