/** Objects that the cases send. */
type Fields = Readonly<Record<string, unknown>>

export const NAMESPACED = '/api/v1/namespaces/$(ns)'
export const PODS = `${NAMESPACED}/pods`
export const CONFIG_MAPS = `${NAMESPACED}/configmaps`
export const SECRETS = `${NAMESPACED}/secrets`
export const SERVICES = `${NAMESPACED}/services`
export const CLAIMS = `${NAMESPACED}/persistentvolumeclaims`
export const ACCOUNTS = `${NAMESPACED}/serviceaccounts`
export const EVENTS = `${NAMESPACED}/events`
export const LEASES = '/apis/coordination.k8s.io/v1/namespaces/$(ns)/leases'
export const NODES = '/api/v1/nodes'
export const VOLUMES = '/api/v1/persistentvolumes'

/** An object of the core group. */
export function core(kind: string, name: string, fields: Fields = {}, metadata: Fields = {}) {
  return { apiVersion: 'v1', kind, metadata: { name, ...metadata }, ...fields }
}

export function of(apiVersion: string, kind: string, name: string, fields: Fields = {}, metadata: Fields = {}) {
  return { apiVersion, kind, metadata: { name, ...metadata }, ...fields }
}

export const container = (fields: Fields = {}) => ({ name: 'main', image: 'registry.test/app:1', ...fields })

/** A pod that no scheduler takes: on a node it would get more than it was sent with. */
export function pod(name: string, spec: Fields = {}, metadata: Fields = {}) {
  return core('Pod', name, { spec: { schedulerName: 'nobody', containers: [container()], ...spec } }, metadata)
}

/** One whose only container has these fields. */
export const podOf = (name: string, fields: Fields, spec: Fields = {}) =>
  pod(name, { containers: [container(fields)], ...spec })

export const configMap = (name: string, data?: Fields, metadata: Fields = {}) =>
  core('ConfigMap', name, data === undefined ? {} : { data }, metadata)
