import type { EnvironmentSources } from '../../src/pods/containers/environment/environment-sources.ts'

/** A cluster in which nothing is there; a test gives what it needs. */
export function createEnvironmentSources(parts: Partial<EnvironmentSources> = {}): EnvironmentSources {
  return {
    configMap: () => ({ kind: 'missing' }),
    secret: () => ({ kind: 'missing' }),
    file: () => ({ kind: 'missing' }),
    services: () => ({ kind: 'found', value: [] }),
    ...parts,
  }
}
