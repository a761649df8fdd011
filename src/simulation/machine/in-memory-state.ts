import type { StateFile } from '../../system/files/state/state-file.ts'
import type { createRecordFolder } from '../../system/files/state/record-folder.ts'

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
