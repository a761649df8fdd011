import type { EnvironmentSources } from './containers/environment-sources.ts'

const unavailable = () => ({ kind: 'unavailable', why: 'this node has no API server' }) as const

/** Without an API server there are no ConfigMaps and no Secrets, and it is certain that there are no services. */
export const noEnvironmentSources: EnvironmentSources = {
  configMap: unavailable,
  secret: unavailable,
  file: () => ({ kind: 'unavailable', why: 'volumes are not supported yet' }),
  services: () => ({ kind: 'found', value: [] }),
}
