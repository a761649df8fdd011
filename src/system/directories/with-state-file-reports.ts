import type { Clock } from '../../base/async/clock.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { createRecordFolder } from '../files/state/create-record-folder.ts'
import { readPatiently } from '../files/state/read-patiently.ts'
import type { StateFile } from '../files/state/state-file.ts'
import type { CsiFiles } from './csi-files.ts'
import type { createPodFiles } from './pod-files.ts'
import type { createUserNamespaceRecords } from './user-namespace-records.ts'

interface StateFilesDeps {
  readonly metrics: { stateSetAside(kind: string): void }
  readonly events: NodeEvents
  readonly clock: Clock
}

/** Where state is kept. */
interface StateHost {
  stateFile(path: string): StateFile
  recordFolder(path: string): ReturnType<typeof createRecordFolder>
  podFiles(rootDirectory: string): ReturnType<typeof createPodFiles>
  csiFiles(rootDirectory: string): CsiFiles
  userNamespaceRecords(rootDirectory: string): ReturnType<typeof createUserNamespaceRecords>
}

const REASON = 'StateFileSetAside'

/**
 * The same files, in which the agent keeps what it must not forget. A read that fails for the moment is tried again before it fails. Each
 * time one of them cannot be used and is set aside, administrators get an event: the agent has lost what was in it.
 */
export function withStateFileReports(
  host: StateHost,
  { metrics, events, clock }: StateFilesDeps,
  signal: AbortSignal,
): StateHost {
  const read = <T>(path: string, work: () => Promise<T>) => readPatiently(work, { path, clock }, signal)
  const watch = async <T>(kind: string, path: string, work: () => Promise<T>): Promise<T> => {
    const record = (outcome: string) => {
      metrics.stateSetAside(kind)
      const message = `Cannot use "${path}": the agent goes on without it, ${outcome}`
      events.record({ type: 'Warning', reason: REASON, message })
    }
    try {
      const result = await work()
      record('the file was set aside')
      return result
    } catch (error) {
      record(`the file cannot be set aside: ${errorMessage(error)}`)
      throw error
    }
  }
  return {
    stateFile(path) {
      const file = host.stateFile(path)
      const { path: name } = file
      return {
        path: name,
        read: () => read(name, () => file.read()),
        write: (text) => file.write(text),
        setAside: () => watch('state', name, () => file.setAside()),
      }
    },
    recordFolder(path) {
      const folder = host.recordFolder(path)
      return {
        names: () => read(path, () => folder.names()),
        read: (name) => read(`${path}/${name}`, () => folder.read(name)),
        write: (name, text) => folder.write(name, text),
        remove: (name) => folder.remove(name),
        setAside: (name) => watch('record', `${path}/${name}`, () => folder.setAside(name)),
      }
    },
    podFiles(rootDirectory) {
      const files = host.podFiles(rootDirectory)
      const notes = (of: typeof files.probeNotes, name: string): typeof of => {
        const pathOf = (uid: string) => `${rootDirectory}/pods/${uid}/${name}`
        return {
          ...of,
          read: (uid) => read(pathOf(uid), () => of.read(uid)),
          setAside: (uid) => watch('pod', pathOf(uid), () => of.setAside(uid)),
        }
      }
      return {
        ...files,
        probeNotes: notes(files.probeNotes, 'probes.json'),
        terminationNotes: notes(files.terminationNotes, 'termination.json'),
      }
    },
    csiFiles(rootDirectory) {
      const files = host.csiFiles(rootDirectory)
      return {
        ...files,
        readData: (directory) => read(`${directory}/vol_data.json`, () => files.readData(directory)),
        listStagedFiles: () => read(`${rootDirectory}/plugins`, () => files.listStagedFiles()),
        listStagedDevices: () => read(`${rootDirectory}/plugins`, () => files.listStagedDevices()),
        setAsideData: (directory) => watch('volume', `${directory}/vol_data.json`, () => files.setAsideData(directory)),
      }
    },
    userNamespaceRecords(rootDirectory) {
      const records = host.userNamespaceRecords(rootDirectory)
      return {
        readAll: () => read(`${rootDirectory}/pods`, () => records.readAll()),
        write: (uid, text) => records.write(uid, text),
        remove: (uid) => records.remove(uid),
        setAside: (uid) => watch('pod', `${rootDirectory}/pods/${uid}/userns`, () => records.setAside(uid)),
      }
    },
  }
}
