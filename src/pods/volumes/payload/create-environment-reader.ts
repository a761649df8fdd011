import type { EnvironmentSources } from '../../containers/environment/environment-sources.ts'
import { readEnvironment } from '../../objects/read-environment.ts'
import type { EnvironmentDeps, EnvironmentRequest } from '../../objects/read-environment.ts'
import { readEnvFile } from './read-env-file.ts'
import type { EnvFileDeps } from './read-env-file.ts'

export interface EnvironmentReaderDeps extends Pick<EnvironmentDeps, 'objects' | 'clock'>, Pick<EnvFileDeps, 'log'> {
  readonly membership: Pick<EnvironmentDeps, 'services' | 'servicesRead'>
  readonly guarded: EnvFileDeps['files']
  readonly volumes: { pathOf: EnvFileDeps['volumePath'] }
}

/** Reads the environment of containers: from objects of the API, services, and files in volumes of their pods. */
export function createEnvironmentReader({ objects, membership, guarded, volumes, clock, log }: EnvironmentReaderDeps) {
  const { services, servicesRead } = membership
  const files: EnvFileDeps = { files: guarded, volumePath: (uid, name) => volumes.pathOf(uid, name), log }
  const readFile: EnvironmentDeps['readFile'] = (pod, file, signal) => readEnvFile(files, { pod, file }, signal)
  const deps: EnvironmentDeps = { objects, readFile, services, servicesRead, clock }
  return (request: EnvironmentRequest, signal: AbortSignal): Promise<EnvironmentSources> =>
    readEnvironment(deps, request, signal)
}
