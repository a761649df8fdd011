import type { Clock } from '../../base/async/clock.ts'
import { setAside } from './set-aside.ts'
import { readTextIfPresent, writeFileAtomically } from './state-folder.ts'

const FILE_MODE = 0o600

/** A file in which agents note what the ones after them have to know. */
export function createStateFile(path: string, clock: Clock) {
  return {
    path,
    read: () => readTextIfPresent(path),
    write: (text: string) => writeFileAtomically(path, text, FILE_MODE),
    async setAside() {
      const suffix = `.broken-${clock.now()}`
      await setAside([path], suffix)
      return `${path}${suffix}`
    },
  }
}
