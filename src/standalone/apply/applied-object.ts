/** An object of a Kubernetes API as a file says it should be. */
export interface AppliedObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly resourceVersion?: string
    readonly annotations?: Readonly<Record<string, string>>
  }
}

/** Which object. The namespace is empty for kinds that have none. */
export interface ObjectName {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

/** As people name it: "Pod default/web". */
export function formatObjectName({ kind, namespace, name }: ObjectName): string {
  return namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`
}

/** By its group, since it is the same object in each version of it. */
export function objectKey({ apiVersion, kind, namespace, name }: ObjectName): string {
  return `${groupOfVersion(apiVersion)}/${kind}/${namespace}/${name}`
}

export function groupOfVersion(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''
}
