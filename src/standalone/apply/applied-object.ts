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
