/** What a Citus cluster needs to be told; on plain PostgreSQL these statements do nothing. */

/** Spreads the rows of a table over the nodes by one column. */
export function distribute(table: string, column: string): string {
  return onCluster(table, `perform create_distributed_table('${table}', '${column}')`)
}

/** The catalogue of distributed tables is only looked at where there is one. */
function onCluster(table: string, work: string): string {
  return `do $$ begin
    if exists (select 1 from pg_extension where extname = 'citus') then
      if not exists (select 1 from pg_dist_partition where logicalrelid = '${table}'::regclass) then
        ${work};
      end if;
    end if;
  end $$`
}
