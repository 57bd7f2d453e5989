"""Writes traces as the original tool did: roots say only `timeAdjustment`, whose `s` is optional, and receives tell no size."""
CALLS = {0: "<Send size='8' count='1' toRank='1' toTag='3' cid='0' time='0.1' end='0.2'/>\n"
            "<Sendrecv toRank='1' toTag='3' fromRank='1' fromTag='4' size='16' count='1' cid='0' time='0.3' end='0.4'/>\n",
         1: "<Recv fromRank='0' fromTag='3' cid='0' time='0.1' end='0.2'/>\n"
            "<Sendrecv toRank='0' toTag='4' fromRank='0' fromTag='3' size='32' count='1' cid='0' time='0.3' end='0.4'/>\n"}


def write_original(folder, project="app", trace="app_h"):
    """A project of two processes. Returns its path."""
    for rank, lines in CALLS.items():
        (folder / f"{trace}_{rank}_0.trc").write_text(f"<Program timeAdjustment='1240424724s'>\n{lines}</Program>\n")
    members = "".join(f'<Rank global="{rank}" local="{rank}" cid="0"/>' for rank in range(2))
    nodes = "".join(f'<Node name="{rank}"><Node name="0"/></Node>' for rank in range(2))
    host = "H" if trace == "myapp_h" else "h"
    path = folder / f"{project}.proj"
    path.write_text(
        '<Application name="app"><Topology><Level type="Hostname"><Level type="Rank"><Level type="Thread"/></Level></Level>'
        f'<Node name="{host}">{nodes}</Node></Topology><FileList/>'
        f'<CommunicatorList><Communicator name="WORLD">{members}</Communicator></CommunicatorList></Application>')
    return path
