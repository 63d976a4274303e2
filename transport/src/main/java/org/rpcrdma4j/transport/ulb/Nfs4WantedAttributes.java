// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import org.rpcrdma4j.transport.xdr.XdrException;

/**
 * GETATTR's bitmap of the attributes that are asked for; it bounds the results.
 *
 * <p>RFC 8267, Section 6.2.1: some attributes have no bound. One of these, or one that isn't known, leaves the results unbounded.
 */
record Nfs4WantedAttributes() implements Shape {

    private static final int MOST_WORDS = 1 << 16;

    /** No bound. */
    private static final int ANY = -1;
    /** Name of a user or group. */
    private static final int NAME = -2;

    private static final int BITMAP = 4 + 4 * Nfs4Types.BITMAP_WORDS;
    /** Layout types: so many as anybody has. */
    private static final int TYPES = 4 + 4 * 32;

    /** Largest sizes by number (RFC 8881, Sections 5.6 and 5.7; RFC 7862, Section 12.2; RFC 8275; RFC 8276). */
    private static final int[] SIZES = {
        // 0 supported_attrs, type, fh_expire_type, change, size, link_support, symlink_support, named_attr, fsid,
        // unique_handles
        BITMAP,
        4,
        4,
        8,
        8,
        4,
        4,
        4,
        16,
        4,
        // 10 lease_time, rdattr_error, acl, aclsupport, archive, cansettime, case_insensitive, case_preserving,
        // chown_restricted, filehandle
        4,
        4,
        ANY,
        4,
        4,
        4,
        4,
        4,
        4,
        132,
        // 20 fileid, files_avail, files_free, files_total, fs_locations, hidden, homogeneous, maxfilesize, maxlink,
        // maxname
        8,
        8,
        8,
        8,
        ANY,
        4,
        4,
        8,
        4,
        4,
        // 30 maxread, maxwrite, mimetype, mode, no_trunc, numlinks, owner, owner_group, quota_avail_hard,
        // quota_avail_soft
        8,
        8,
        NAME,
        4,
        4,
        4,
        NAME,
        NAME,
        8,
        8,
        // 40 quota_used, rawdev, space_avail, space_free, space_total, space_used, system, time_access,
        // time_access_set,
        // time_backup
        8,
        8,
        8,
        8,
        8,
        8,
        4,
        12,
        16,
        12,
        // 50 time_create, time_delta, time_metadata, time_modify, time_modify_set, mounted_on_fileid, dir_notif_delay,
        // dirent_notif_delay, dacl, sacl
        12,
        12,
        12,
        12,
        16,
        8,
        12,
        12,
        ANY,
        ANY,
        // 60 change_policy, fs_status, fs_layout_type, layout_hint, layout_type, layout_blksize, layout_alignment,
        // fs_locations_info, mdsthreshold, retention_get
        16,
        ANY,
        TYPES,
        ANY,
        TYPES,
        4,
        4,
        ANY,
        ANY,
        24,
        // 70 retention_set, retentevt_get, retentevt_set, retention_hold, mode_set_masked, suppattr_exclcreat,
        // fs_charset_cap, clone_blksize, space_freed, change_attr_type
        16,
        24,
        16,
        8,
        8,
        BITMAP,
        4,
        4,
        8,
        4,
        // 80 sec_label, mode_umask, xattr_support
        ANY,
        8,
        4
    };

    @Override
    public void walk(Walk walk) throws XdrException {
        int words = walk.in.readCount(MOST_WORDS, 4);
        // The bitmap and the count word of the values.
        long bytes = BITMAP + 4;
        boolean bounded = true;
        for (int i = 0; i < words; i++) {
            int word = walk.in.readInt();
            for (int left = word; left != 0; left &= left - 1) {
                int number = 32 * i + Integer.numberOfTrailingZeros(left);
                int size = number < SIZES.length ? SIZES[number] : ANY;
                bytes += size == NAME ? walk.limits.ownerBytes() + 8L : size;
                bounded &= size != ANY;
                walk.exact &= size != NAME;
            }
        }
        walk.resultBytes = bounded ? bytes : Walk.NONE;
    }

    @Override
    public long smallest() {
        return 4;
    }

    @Override
    public long largest(ResultLimits limits) {
        return UNBOUNDED;
    }
}
