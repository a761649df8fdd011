/**
 * All that the child process can do, by name. Each operation loads its own code when it is first asked for: a child should not pay at its start
 * for what it never does.
 */
export const operations = {
  bindSubPath: async () => (await import('./bind-sub-path.ts')).bindSubPath,
  checkHostPath: async () => (await import('./check-host-path.ts')).checkHostPath,
  kindOf: async () => (await import('./inspect-path.ts')).kindOf,
  makeSubPath: async () => (await import('./make-sub-path.ts')).makeSubPath,
  measureFileSystem: async () => (await import('./inspect-path.ts')).measureFileSystem,
  measureTree: async () => (await import('./measure-tree.ts')).measureTree,
  readInside: async () => (await import('./read-inside.ts')).readInside,
  releaseSubPaths: async () => (await import('./release-sub-paths.ts')).releaseSubPaths,
  releaseTarget: async () => (await import('./bind-sub-path.ts')).releaseTarget,
  removeTree: async () => (await import('./remove-tree.ts')).removeTree,
  setOwnership: async () => (await import('./set-ownership.ts')).setOwnership,
} as const

type Functions = { readonly [Name in keyof typeof operations]: Awaited<ReturnType<(typeof operations)[Name]>> }

/** What the agent may ask for: by name what it takes and what it gives. */
export type Operations = {
  readonly [Name in keyof Functions]: {
    readonly request: Parameters<Functions[Name]>[0]
    readonly result: ReturnType<Functions[Name]>
  }
}
