import axe from 'axe-core'
import type { Page } from 'playwright-core'

/** The findings of axe that keep people from using the page. */
export async function findBarriers(tab: Page): Promise<readonly string[]> {
  // It is half a megabyte, and stays until another page is loaded.
  if (await tab.evaluate('typeof axe === "undefined"')) await tab.evaluate(axe.source)
  // Nobody reads here where an element is; to find a selector for each takes its time.
  const options = '{ resultTypes: ["violations"], selectors: false }'
  const found = (await tab.evaluate(`axe.run(document, ${options})`)) as {
    readonly violations: readonly {
      readonly id: string
      readonly impact: string
      readonly nodes: readonly { readonly html: string }[]
    }[]
  }
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)
}
