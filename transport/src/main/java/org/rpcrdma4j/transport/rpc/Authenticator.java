// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

/**
 * Says whether a caller may come with the identity it brings (RFC 5531, Section 9: the server answers AUTH_ERROR if not).
 *
 * <p>AUTH_SYS proves nothing: whoever reaches the server can say to be anybody. RFC 5531, Section 14 advises against it for services that
 * change data.
 */
@FunctionalInterface
public interface Authenticator {

    /** AUTH_NONE and AUTH_SYS may come; other flavours aren't understood here, their callers must begin anew with another one. */
    Authenticator NONE_AND_SYS = (call, credential) ->
            credential instanceof Credential.Other ? AuthStatus.AUTH_REJECTEDCRED : AuthStatus.AUTH_OK;

    /** AUTH_SYS only. */
    Authenticator SYS_ONLY = (call, credential) -> switch (credential) {
        case Credential.Sys sys -> AuthStatus.AUTH_OK;
        case Credential.None none -> AuthStatus.AUTH_TOOWEAK;
        case Credential.Other other -> AuthStatus.AUTH_REJECTEDCRED;
    };

    /** {@link AuthStatus#AUTH_OK}, or why not. Asked for every call but those of procedure 0 with AUTH_NONE. */
    AuthStatus check(CallHeader call, Credential credential);
}
