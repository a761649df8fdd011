import type { Clock } from '../../base/async/clock.ts'
import { errorMessage } from '../../base/telemetry/error-text.ts'
import type { NodeEvents } from '../../model/events/node-events.ts'
import type { createRecordFolder } from '../files/state/create-record-folder.ts'
import { setAside } from '../files/state/durable-file.ts'
import { readPatiently } from '../files/state/read-patiently.ts'
import type { StateFile } from '../files/state/state-file.ts'
import type { CsiFiles } from './csi-files.ts'
import type { ManifestCopies, ReportSetAside } from './last-good-manifests.ts'
import type { createPodFiles } from './pod-files.ts'
import type { createUserNamespaceRecords } from './user-namespace-records.ts'

interface ReportDeps {
  readonly metrics: { stateSetAside(kind: string): void }
  readonly events: NodeEvents
}

interface StateFilesDeps extends ReportDeps {
  readonly clock: Clock
}

/** Where state is kept. */
interface StateHost {
  stateFile(path: string): StateFile
  recordFolder(path: string): ReturnType<typeof createRecordFolder>
  lastGoodManifests(folder: string, report?: ReportSetAside): ManifestCopies
  podFiles(rootDirectory: string): ReturnType<typeof createPodFiles>
  csiFiles(rootDirectory: string): CsiFiles
  userNamespaceRecords(rootDirectory: string): ReturnType<typeof createUserNamespaceRecords>
}

const REASON = 'StateFileSetAside'

/** Counts each file that is set aside, and reports it to administrators. */
function createReport({ metrics, events }: ReportDeps): ReportSetAside {
  return async (kind, path, work) => {
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
}

/** Gives files with credentials of the node another ending, with the same report: they have folders and names of their own. */
export function createSetCredentialsAside(deps: ReportDeps): typeof setAside {
  const report = createReport(deps)
  return (paths, suffix) => report('credential', paths.join('" and "'), () => setAside(paths, suffix))
}

/**
 * The same files, in which the agent keeps what it must not forget. A read that fails for the moment is tried again before it fails. Each
 * time one of them cannot be used and is set aside, administrators get an event: the agent has lost what was in it.
 */
export function withStateFileReports(
  host: StateHost,
  { clock, ...reports }: StateFilesDeps,
  signal: AbortSignal,
): StateHost {
  const read = <T>(path: string, work: () => Promise<T>) => readPatiently(work, { path, clock }, signal)
  const watch = createReport(reports)
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
    lastGoodManifests: (folder) => host.lastGoodManifests(folder, watch),
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
