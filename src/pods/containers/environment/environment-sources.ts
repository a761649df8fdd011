import type { Service } from '../../../model/generated/core-v1.ts'

/** What became of a question to another object: its answer, the certainty that there is none, or no way to know now. */
export type Lookup<T> =
  | { readonly kind: 'found'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unavailable'; readonly why: string }

/** Where the environment of a container comes from besides its own spec; everything is in the pod's namespace. */
export interface EnvironmentSources {
  /** All text data of a ConfigMap. */
  readonly configMap: (name: string) => Lookup<ReadonlyMap<string, string>>
  readonly secret: (name: string) => Lookup<ReadonlyMap<string, string>>
  /** One variable of a file inside a volume. */
  readonly file: (file: EnvironmentFile) => Lookup<string>
  /** The services of all namespaces. */
  readonly services: () => Lookup<readonly Service[]>
}

/** A variable of a file that a volume of the pod holds. */
export interface EnvironmentFile {
  readonly volumeName: string
  readonly path: string
  readonly key: string
}
