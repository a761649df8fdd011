import type { ManifestCopies } from '../../system/directories/last-good-manifests.ts'
import type { StateFile } from '../../system/files/state/state-file.ts'
import type { createRecordFolder } from '../../system/files/state/create-record-folder.ts'

/** A state file that goes with the process. */
export function createInMemoryStateFile(path: string): StateFile {
  let text: string | undefined
  return {
    path,
    read: async () => text,
    write: async (next) => void (text = next),
    setAside: async () => {
      text = undefined
      return `${path}.broken`
    },
  }
}

/** A folder of records that goes with the process. */
export function createInMemoryRecords(): ReturnType<typeof createRecordFolder> {
  const texts = new Map<string, string>()
  return {
    names: async () => [...texts.keys()],
    read: async (name) => texts.get(name),
    write: async (name, text) => void texts.set(name, text),
    remove: async (name) => void texts.delete(name),
    setAside: async (name) => void texts.delete(name),
  }
}

/** Copies of manifests that go with the process. */
export function createInMemoryManifests(): ManifestCopies {
  const copies = new Map<string, Uint8Array>()
  return {
    read: async (name) => copies.get(name),
    readAll: async () => [...copies.values()],
    write: async (name, bytes) => void copies.set(name, bytes),
    remove: async (name) => void copies.delete(name),
    retain: async (names) => {
      for (const name of copies.keys()) if (!names.includes(name)) copies.delete(name)
    },
  }
}
