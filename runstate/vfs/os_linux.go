package vfs

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

func changeTime(stat *syscall.Stat_t) syscall.Timespec { return stat.Ctim }

func renameNoReplace(oldname, newname string) error {
	err := retryInterrupted(func() error {
		return unix.Renameat2(unix.AT_FDCWD, oldname, unix.AT_FDCWD, newname, unix.RENAME_NOREPLACE)
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, ErrUnsupported) {
		return fmt.Errorf("%w: the file system or kernel has no renameat2 without replacing (%v)", ErrUnsupported, err)
	}
	return err
}

func allocate(fd int, size int64) error {
	if size == 0 {
		return nil
	}
	err := retryInterrupted(func() error { return unix.Fallocate(fd, 0, 0, size) })
	if errors.Is(err, ErrUnsupported) {
		return writeZeros(fd, size)
	}
	return err
}

func writeBack(fd int, end int64) error {
	return unix.SyncFileRange(fd, 0, end, unix.SYNC_FILE_RANGE_WRITE)
}

// kindName names a file system by its magic number, see statfs(2). ext2 and ext3 have ext4's number, and its name: a
// current kernel mounts all three with the ext4 driver.
func kindName(stat *unix.Statfs_t) string {
	switch magic := uint32(stat.Type); magic {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.F2FS_SUPER_MAGIC:
		return "f2fs"
	case 0x2fc12fc1:
		return "zfs"
	case unix.BCACHEFS_SUPER_MAGIC:
		return "bcachefs"
	case unix.TMPFS_MAGIC:
		return "tmpfs"
	case unix.RAMFS_MAGIC:
		return "ramfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlay"
	case 0x61756673:
		return "aufs"
	case unix.ECRYPTFS_SUPER_MAGIC:
		return "ecryptfs"
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.CIFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "smb"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.FUSE_SUPER_MAGIC:
		return "fuse"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "afs"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case 0x01161970:
		return "gfs2"
	case 0x0bd00bd0:
		return "lustre"
	case 0x47504653:
		return "gpfs"
	case 0x19830326:
		return "beegfs"
	case unix.OCFS2_SUPER_MAGIC:
		return "ocfs2"
	case 0x786f4256:
		return "vboxsf"
	case unix.MSDOS_SUPER_MAGIC:
		return "msdos"
	case unix.EXFAT_SUPER_MAGIC:
		return "exfat"
	case 0x5346544e, 0x7366746e:
		return "ntfs"
	case unix.HPFS_SUPER_MAGIC:
		return "hpfs"
	case 0x482b:
		return "hfsplus"
	case 0x3153464a:
		return "jfs"
	case unix.REISERFS_SUPER_MAGIC:
		return "reiserfs"
	case unix.NILFS_SUPER_MAGIC:
		return "nilfs2"
	case unix.JFFS2_SUPER_MAGIC:
		return "jffs2"
	case 0x24051905:
		return "ubifs"
	case unix.ISOFS_SUPER_MAGIC:
		return "iso9660"
	case unix.UDF_SUPER_MAGIC:
		return "udf"
	case unix.SQUASHFS_MAGIC:
		return "squashfs"
	case unix.PROC_SUPER_MAGIC:
		return "proc"
	case unix.SYSFS_MAGIC:
		return "sysfs"
	default:
		return fmt.Sprintf("0x%x", magic)
	}
}
