import {main} from "../browser/drive.mjs";
import {launch} from "./launch.mjs";

await main(launch, ["requests", "page"], true);
