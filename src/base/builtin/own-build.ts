import process from 'node:process'

/** Which program this is. */
interface OwnBuild {
  readonly version: string
  /** The commit it was built from, with "-dirty" when files were changed since; empty where that is not known. */
  readonly commit: string
}

// tools/build-program.ts puts it in; sources have none.
declare const OWN_BUILD: OwnBuild

/** Undefined for a program that runs from its sources. */
export const ownBuild: OwnBuild | undefined = typeof OWN_BUILD === 'undefined' ? undefined : OWN_BUILD

/** As in "0.1.0 (commit 0a1b2c3d, Node 26.10.0)". */
export function formatOwnBuild(build: OwnBuild | undefined = ownBuild): string {
  const node = `Node ${process.versions.node}`
  if (build === undefined) return `from sources (${node})`
  const parts = [...(build.commit === '' ? [] : [`commit ${build.commit}`]), node]
  return `${build.version} (${parts.join(', ')})`
}
