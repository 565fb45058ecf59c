package vfs

// Mem's methods of FS are those of the process that each crash replaces.

func (m *Mem) current() *Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.main
}

// Create implements Files.
func (m *Mem) Create(name string) (File, error) { return m.current().Create(name) }

// Open implements Files.
func (m *Mem) Open(name string) (File, error) { return m.current().Open(name) }

// OpenAppend implements Files.
func (m *Mem) OpenAppend(name string) (File, error) { return m.current().OpenAppend(name) }

// Link implements Names.
func (m *Mem) Link(oldname, newname string) error { return m.current().Link(oldname, newname) }

// Rename implements Names.
func (m *Mem) Rename(oldname, newname string) error { return m.current().Rename(oldname, newname) }

// RenameNoReplace implements Names.
func (m *Mem) RenameNoReplace(oldname, newname string) error {
	return m.current().RenameNoReplace(oldname, newname)
}

// Remove implements Names.
func (m *Mem) Remove(name string) error { return m.current().Remove(name) }

// Stat implements Names.
func (m *Mem) Stat(name string) (Info, error) { return m.current().Stat(name) }

// Mkdir implements Dirs.
func (m *Mem) Mkdir(name string) error { return m.current().Mkdir(name) }

// List implements Dirs.
func (m *Mem) List(name string) ([]string, error) { return m.current().List(name) }

// SyncDir implements Dirs.
func (m *Mem) SyncDir(name string) error { return m.current().SyncDir(name) }

// Lock implements Host.
func (m *Mem) Lock(name string) (Locked, error) { return m.current().Lock(name) }

// Kind implements Host.
func (m *Mem) Kind(name string) (string, error) { return m.current().Kind(name) }

// Real implements Host.
func (m *Mem) Real(name string) (string, error) { return m.current().Real(name) }
